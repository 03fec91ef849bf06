"""Engines: who trains, who talks and when."""
