"""One module per table beside that of the comparisons, which every experiment has.

``tabulate(index, root, *, option, …)`` returns a ``writers.Table`` of the runs of an index (``indexes.read_index``)
that lie below the results root; its options are taken from the experiment's ``analysis`` by their names.
"""

FAMILY, FUNCTION = "table", "tabulate"
