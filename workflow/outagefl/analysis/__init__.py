"""From runs to findings: pairing, statistics, tables, figures and a verdict for every published claim."""
