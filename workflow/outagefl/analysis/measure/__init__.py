"""What a claim is about, as one number per run; one module per measure.

``measure(folder, tail, *, option, …)`` reads the run in a folder. ``tail``: the fraction of the rounds that counts as
their end, as the experiment's analysis has it.
"""

FAMILY, FUNCTION = "measure", "measure"
