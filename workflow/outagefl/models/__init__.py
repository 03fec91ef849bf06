"""The networks of the papers, one module per kind."""
