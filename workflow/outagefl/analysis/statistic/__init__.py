"""What a claim compares; one module per kind of statistic.

``contrasts(values, *, option, …)`` makes of the values of an experiment's runs (``contrast``) one contrast, or several
where a claim says several things at once: name → one number per seed and setting, such that the claim says of each that
it is above zero, or where a number is published, how far. Comparisons are within a seed and a setting.

Options by the same name mean the same everywhere: ``method`` (one or a list) and ``baseline`` are methods, ``factor``
is one of the experiment's, ``base``, ``level`` and ``at`` are its levels.
"""

FAMILY, FUNCTION = "statistic", "contrasts"
