"""One module per figure, each with ``draw(index, root, …)``, so that editing one figure redraws only that figure."""
