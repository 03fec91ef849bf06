"""Aggregation rules: pure functions on arrays, one module each; they know nothing of networks or data."""
