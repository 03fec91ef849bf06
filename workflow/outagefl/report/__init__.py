"""The page that shows the results of a scale: one HTML file that needs nothing else, made from results and records."""
