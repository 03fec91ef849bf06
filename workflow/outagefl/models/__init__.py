"""The networks of the papers, one module per kind."""

FAMILY, FUNCTION = "model", "build"
