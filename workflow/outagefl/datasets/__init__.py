"""Raw files → uniform arrays: one module per data set with a function ``prepare``, and what they share."""

FAMILY, FUNCTION = "dataset", "prepare"
