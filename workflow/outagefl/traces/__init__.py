"""Formats of traces: one module a kind, with ``read(source, *, options)``, and what they share."""

FAMILY, FUNCTION = "trace", "read"
