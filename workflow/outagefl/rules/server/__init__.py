"""Aggregation rules of a server, one module per rule."""

FAMILY, FUNCTION = "server rule", "step"
