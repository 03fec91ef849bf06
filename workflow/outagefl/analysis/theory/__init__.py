"""Checks of a paper's theory by computation: one module a check, with ``check(rng, *, options)`` and ``draw(values)``.

``check`` returns values to draw and findings (``result.Checked``); ``draw`` makes the figure of these values.
"""

FAMILY, FUNCTION = "theory check", "check"
