"""Run specs, their plan, their execution and what is recorded about them."""
