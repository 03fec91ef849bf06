"""One module per way to choose the value of a rule's option from validation runs (``outagefl.runs.choices``).

``choose(runs, *, candidates, seeds, …)`` gets the folders of these runs, candidates slowest and seeds fastest, and
returns ``value``, the candidate chosen, and ``candidates``, a list of what it knows of each (value, mean and more), to
be written as JSON.
"""

FAMILY, FUNCTION = "choice", "choose"
