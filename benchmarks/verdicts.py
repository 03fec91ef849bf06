"""How often verdicts are wrong, by hand: ``python benchmarks/verdicts.py [STUDIES]`` (1,000; some minutes).

For each kind of claim and 3, 5, 10 and 30 seeds, over simulated studies of one claim each: how often it is
"reproduced" although nothing of it is true, in the way that is hardest to tell from it ("null"), and although the truth
is the other way round; how often it is "reproduced" and "not reproduced" when the truth is as published. The truths and
their scatter are in ``tests/unit/simulated_studies.py``. Holm's correction over several claims only lowers them.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from tests.unit.simulated_studies import KINDS, verdicts

from outagefl.analysis.verdicts import DIRECTION_ONLY, NOT_REPRODUCED, REPRODUCED

SEEDS = (3, 5, 10, 30)


def main() -> None:
    """Measure and print."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"% of {studies:,} simulated studies with {', '.join(map(str, SEEDS))} seeds")
    columns = ["null: reproduced", "reversed: reproduced", "published: reproduced", "… or direction only"]
    print(f"{'':18}" + "".join(f"{column:>26}" for column in [*columns, "published: not reproduced"]))
    for key, (kind, (claim, published, null, reverse)) in enumerate(KINDS.items()):
        cells: list[list[float]] = [[] for _ in range(5)]
        for seeds in SEEDS:
            found = [verdicts(claim, truth, seeds, studies, key) for truth in (null, reverse, published)]
            either = found[2][REPRODUCED] + found[2][DIRECTION_ONLY]
            counts = [*(each[REPRODUCED] for each in found), either, found[2][NOT_REPRODUCED]]
            for cell, count in zip(cells, counts, strict=True):
                cell.append(100 * count / studies)
        print(
            f"{kind:18}" + "".join(f"{' '.join(f'{value:5.1f}' for value in cell):>26}" for cell in cells), flush=True
        )


if __name__ == "__main__":
    main()
