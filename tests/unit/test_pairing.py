"""Reading runs and pairing them: what a score is, what makes a pair, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from outagefl.analysis.indexes import read_index, setting
from outagefl.analysis.pairing import pair
from outagefl.analysis.results import collect, final, metrics, scores
from outagefl.errors import ConfigError, DataError
from outagefl.files import checksum
from tests.unit.synthetic_runs import write_runs

GAINS = {"dfedavg": 0.0, "sfg": 0.03}


@pytest.mark.parametrize(
    ("rounds", "tail", "expected"),
    [
        ([2, 4, 6, 8, 10], 0.1, 10),
        ([2, 4, 6, 8, 10], 0.4, 9),  # round 6 = (1 − 0.4)·10 is not after it
        ([2, 4, 6, 8, 10], 1.0, 6),
        ([30, 60, 90], 0.1, 90),  # nothing but the last evaluation is late enough
        ([1, 5, 10], 0.9, 7.5),  # (1 − 0.9)·10 is not exact in floating point
    ],
)
def test_a_score_is_the_mean_over_the_last_rounds(rounds, tail, expected):
    assert final(np.array(rounds), np.array(rounds, dtype=float), tail) == expected


def test_scores_are_final_accuracies_in_percent(tmp_path):
    index = read_index(write_runs(tmp_path, GAINS))
    table = scores(index, tmp_path)
    assert list(table.columns) == [*index.columns, "score"]
    assert table["score"].between(45, 60).all()
    raw = pd.read_parquet(tmp_path / index["run"][0] / "metrics.parquet")
    last = raw[(raw["metric"] == "accuracy") & (raw["client"] == -1) & (raw["round"] == 20)]
    assert table["score"][0] == pytest.approx(100 * last["value"].item())


def test_only_the_asked_rows_are_read(tmp_path):
    index = read_index(write_runs(tmp_path, GAINS, seeds=1))
    frame = metrics(tmp_path / index["run"][0], ["lag"], mean=True)
    assert set(frame["metric"]) == {"lag"}
    assert set(frame["client"]) == {-1}
    assert set(metrics(tmp_path / index["run"][0], ["lag", "age"], mean=False)["client"]) == {0, 1, 2, 3}


def test_a_setting_is_named_by_what_varies(tmp_path):
    grid = [
        {"availability": a, "topology": "ring", "partition.alpha": p} for a in ("markov", "NA") for p in ("0.1", "1")
    ]
    index = read_index(write_runs(tmp_path / "grid", GAINS, settings=grid, seeds=1))
    assert list(setting(index).unique()) == ["markov · α = 0.1", "markov · α = 1", "NA · α = 0.1", "NA · α = 1"]
    index = read_index(write_runs(tmp_path / "one", GAINS, settings=[{"availability": "markov", "topology": "ring"}]))
    assert list(setting(index).unique()) == ["markov · ring"]
    index = read_index(write_runs(tmp_path / "none", GAINS, settings=[{}]))
    assert list(setting(index).unique()) == ["outages"]


def test_pairs_differ_in_the_method_alone(tmp_path):
    settings = [{"availability": "markov"}, {"availability": "smartphone"}]
    table = scores(read_index(write_runs(tmp_path, GAINS, settings=settings, seeds=4)), tmp_path)
    pairs = pair(table.sample(frac=1, random_state=0), "dfedavg")
    assert len(pairs) == 8
    for row in pairs.itertuples():
        partner = table.query(f"method == 'dfedavg' and availability == {row.availability!r} and seed == {row.seed}")
        assert row.reference == partner["score"].item()
        assert row.difference == pytest.approx(row.score - row.reference)
    # Seeds differ by several points, pairs by their method alone.
    assert pairs["difference"].std() < 0.5 < table.loc[table["method"] == "sfg", "score"].std()


def test_an_unknown_baseline_is_named_with_the_nearest_spelling(tmp_path):
    table = scores(read_index(write_runs(tmp_path, GAINS)), tmp_path)
    with pytest.raises(ConfigError, match="'dfedavrg'; did you mean 'dfedavg'"):
        pair(table, "dfedavrg")


@pytest.mark.parametrize("lost", ["dfedavg", "sfg"])
def test_a_run_without_partner_is_an_error(tmp_path, lost):
    table = scores(read_index(write_runs(tmp_path, GAINS)), tmp_path)
    gap = table[(table["method"] != lost) | (table["seed"] != 1)]
    with pytest.raises(DataError, match=rf"{lost}: no run .* availability markov, seed 1 \(1 missing\)"):
        pair(gap, "dfedavg")


def test_missing_index(tmp_path):
    with pytest.raises(DataError, match=r"nothing\.csv: no such index"):
        read_index(tmp_path / "nothing.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not an index"),
        ("study,experiment,method,seed,run,checksum\n", "lists no run"),
        ("study,experiment,method,seed,run\nsfg,a,b,0,c\n", "lacks the column 'checksum'"),
        ("study,experiment,method,run,checksum\nsfg,a,b,0,c\n", "not an index"),
        ("study,experiment,method,seed,run,checksum\nsfg,a,b,zero,c,d\n", "not an index.*zero"),
        ("study,experiment,method,seed,run,checksum\nsfg,a,b,0,c,d\nsfg,a,b,0,e,f\n", "'e' repeats"),
    ],
)
def test_unfit_index(tmp_path, content, message):
    path = tmp_path / "runs.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=rf"runs\.csv: .*{message}"):
        read_index(path)


def test_missing_run(tmp_path):
    index = read_index(write_runs(tmp_path, GAINS))
    (tmp_path / index["run"][1] / "metrics.parquet").unlink()
    with pytest.raises(DataError, match=r"0-dfedavg-1/metrics\.parquet: no such file"):
        scores(index, tmp_path)


@pytest.mark.parametrize("damage", ["cut", "overwritten", "other table"])
def test_damaged_run(tmp_path, damage):
    index = read_index(write_runs(tmp_path, GAINS))
    path = tmp_path / index["run"][1] / "metrics.parquet"
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "overwritten":
        path.write_text("accuracy 0.99\n")
    else:
        pd.DataFrame({"metric": ["accuracy"], "value": [1.0]}).to_parquet(path)
    with pytest.raises(DataError, match=r"0-dfedavg-1/metrics\.parquet: not readable"):
        scores(index, tmp_path)


def test_a_run_that_changed_after_indexing_is_refused(tmp_path):
    index = read_index(write_runs(tmp_path, GAINS))
    path = tmp_path / index["run"][1] / "metrics.parquet"
    pd.read_parquet(path).assign(value=0.5).to_parquet(path)
    with pytest.raises(DataError, match=r"0-dfedavg-1/metrics\.parquet: changed since it was indexed"):
        scores(index, tmp_path)


def test_an_absent_metric_is_named(tmp_path):
    index = read_index(write_runs(tmp_path, GAINS))
    with pytest.raises(DataError, match=r"metrics\.parquet: holds no metric 'acuracy'"):
        metrics(tmp_path / index["run"][0], ["acuracy"], mean=True)


def test_a_diverged_score_is_refused(tmp_path):
    index = read_index(write_runs(tmp_path, GAINS))
    path = tmp_path / index["run"][1] / "metrics.parquet"
    pd.read_parquet(path).assign(value=np.nan).to_parquet(path)
    index.loc[1, "checksum"] = checksum(path)
    with pytest.raises(DataError, match=r"0-dfedavg-1/metrics\.parquet: final accuracy is nan"):
        scores(index, tmp_path)


def test_collected_rows_know_their_run(tmp_path):
    index = read_index(write_runs(tmp_path, GAINS, seeds=2))
    table = collect(index, tmp_path, lambda folder: pd.DataFrame({"folder": [folder.name]}))
    assert list(table["folder"]) == ["0-dfedavg-0", "0-dfedavg-1", "0-sfg-0", "0-sfg-1"]
    assert list(zip(table["method"], table["seed"], table["setting"], strict=True))[3] == ("sfg", 1, "markov")


def test_numbers_in_the_name_of_a_setting_say_of_what_they_are():
    gammas = {"availability.probability.gamma": ["0.1", "0.3"]}
    levels = {"availability": "sine", **gammas, "training.learning_rate": "0.05"}
    index = pd.DataFrame({"experiment": "e", **levels, "method": "m", "seed": 0})
    assert list(setting(index)) == ["γ = 0.1", "γ = 0.3"]
    assert list(setting(index[:1])) == ["sine · γ = 0.1 · learning rate = 0.05"]
