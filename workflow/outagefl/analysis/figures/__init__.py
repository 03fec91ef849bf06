"""One module per figure, so that editing one figure redraws only that figure.

``draw(index, root, *, option, …)`` draws the runs of an index (``indexes.read_index``) that lie below the results root;
its options are taken from the experiment's ``analysis`` by their names.
"""

FAMILY, FUNCTION = "figure", "draw"
