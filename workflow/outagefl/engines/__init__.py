"""Engines: who trains, who talks and when."""

FAMILY, FUNCTION = "engine", "run"
