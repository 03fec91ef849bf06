# What tables, figures and theory checks there are, by their paths, and what they are made from.
# Needs the plan in common.smk; makes nothing.
from outagefl.runs.analyses import shown_options


def shown(key, suffix):
    """The paths of all figures or tables that the experiments declare under ``key`` of their analysis."""
    return [
        f"results/{SCALE}/{name}/{key}/{kind}.{suffix}"
        for name, experiment in PLAN.experiments.items()
        for kind in experiment.analysis.get(key, [])
    ]


def computed(*endings):
    """The paths of what the theory checks make, by the ends of their names."""
    return [
        f"results/{SCALE}/{Path(name).parent}/theory/{Path(name).name}{ending}"
        for name in THEORY
        for ending in endings
    ]


def declared(key):
    """The figures or tables that some experiment declares."""
    analyses = [experiment.analysis for experiment in PLAN.experiments.values()]
    return sorted({kind for analysis in analyses for kind in analysis.get(key, [])})


def options_of(wildcards, family):
    """What a figure or table takes from the experiment's analysis."""
    return shown_options(PLAN.experiments[wildcards.experiment].analysis, family, wildcards[family])


def shown_from(wildcards, family):
    """What a figure or table is made from: the experiment's runs and the published values and curves that it takes."""
    options = options_of(wildcards, family)
    index = {"index": f"results/{SCALE}/{wildcards.experiment}/runs.csv"}
    return index | {key: options[key] for key in ("published", "curves") if options.get(key)}


wildcard_constraints:
    experiment=one_of(PLAN.experiments),
    figure=one_of(declared("figures")),
    table=one_of(declared("tables")),
