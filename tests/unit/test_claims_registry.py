"""The registry of claims: mistakes in it, and whether it says what the papers say."""

import re
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
import yaml

from outagefl.analysis.writers import LATEX
from outagefl.config import read_claims, read_yaml
from outagefl.errors import ConfigError
from outagefl.runs.claims import declared_claims

CONFIG = Path(__file__).parents[2] / "config"
STUDIES = ("sfg", "fedswe", "dflaa")
CLAIMS = read_claims(CONFIG / "claims.yaml")
GAIN = {
    "source": "s",
    "text": "t",
    "experiment": "outages",
    "statistic": {"kind": "gain", "method": "sfg_cut", "baseline": "dfedavg"},
    "published": 4.0,
    "unit": "points",
}


@pytest.fixture
def folder(tmp_path):
    for name in ("studies", "scales"):
        (tmp_path / name).symlink_to(CONFIG / name)
    return tmp_path


def declared(folder, registry, studies=STUDIES):
    (folder / "claims.yaml").write_text(registry if isinstance(registry, str) else yaml.safe_dump(registry))
    return declared_claims({"studies": studies}, folder)


def kind(**options):
    return {"statistic": {"kind": "change", "method": "sfg_cut", **options}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"experimnet": "outages"}, "unknown key 'experimnet'; did you mean 'experiment'"),
        ({"source": None}, "sfg.S3.source: None is not of type 'string'"),
        ({"source": ""}, "expected: where it is published"),
        ({"published": "four"}, "sfg.S3.published: 'four' is not of type 'number'"),
        ({"published": -4}, "sfg.S3.published: -4, expected more than 0: an effect is stated upwards"),
        ({"says": "at mots"}, "sfg.S3.says: unknown value 'at mots'; did you mean 'at most'"),
        ({"says": "at most", "published": None}, "sfg.S3.published: None is not of type 'number'"),
        ({"says": "unresolved"}, "'seeds' is a required property"),
        ({"experiment": "outage"}, "sfg.S3.experiment: unknown experiment 'outage'; did you mean 'outages'"),
        ({"scale": "papre"}, "sfg.S3.scale: unknown scale 'papre'; did you mean 'paper'"),
        ({"unit": "%"}, "sfg.S3.unit: '%', expected 'points'"),
        ({"says": "wins", "published": 99}, "sfg.S3.unit: 'points', expected '%'"),
        ({"ratio": True, "unit": "×", "published": 0.9}, "0.9, expected more than 1"),
        ({"ratio": True, "unit": "×", "within": 0.5}, "sfg.S3.within: 0.5 is less than the minimum of 1"),
        ({"statistic": {"kind": "gian"}}, "sfg.S3.statistic: unknown statistic 'gian'; did you mean 'gain'"),
        ({"statistic": {"kind": "gain", "method": "sfg"}}, "statistic 'gain' needs the option 'baseline'"),
        ({"statistic": {**GAIN["statistic"], "baselin": 1}}, "unknown option of statistic gain 'baselin'"),
        (
            {"statistic": {**GAIN["statistic"], "method": "sfg_kut"}},
            "unknown method of outages 'sfg_kut'; did you mean",
        ),
        ({"statistic": {"kind": "pairs", "pairs": [["sfg"]]}}, "is too short"),
        ({"measure": {"kind": "finale", "metric": "loss"}}, "sfg.S3.measure: unknown measure 'finale'"),
        ({"measure": {"kind": "final", "metric": "los"}}, "measure.metric: unknown value 'los'; did you mean 'loss'"),
        (
            {"measure": {"kind": "final", "metric": "loss"}, "says": "about", "unit": "nats"},
            "'within' is missing: only for points and % the study has a margin",
        ),
        ({"where": {"tsak": "cifar10"}}, "sfg.S3: unknown factor of outages 'tsak'; did you mean 'task'"),
        ({"where": {"task": "cifar11"}}, "unknown level of task 'cifar11'; did you mean 'cifar10"),
        ({"each": ["tasks"]}, "unknown factor of outages 'tasks'; did you mean 'task'"),
        (kind(factor="clients", base=1, level=2), "unknown factor of outages 'clients'"),
        (kind(factor="topology", base="ring", level="regular4"), "unknown level of topology 'ring'"),
        (kind(baseline="sfg_cut", factor="task", base="digits", level="cifar10"), "'sfg_cut' is compared with itself"),
        (kind(factor="task", base="digits", level=["cifar10", "digits"]), "'digits' is compared with itself"),
        ({"statistic": {"kind": "ordering", "order": [["sfg", "dfedavg"], "sfg"]}}, "'sfg' is compared with itself"),
        (
            {"finding": {"check": "slip", "statement": "s"}},
            "sfg.S3.experiment: 'outages' (expected: no such key beside 'finding'",
        ),
        ({"seeds": 5}, "sfg.S3.seeds: 5 (expected: no such key unless the claim says unresolved)"),
        (
            {"says": "wins", "published": 60, "unit": "%", "within": 2},
            "sfg.S3.within: 2 (expected: no such key in a claim that counts comparisons)",
        ),
    ],
)
def test_a_mistake_is_told_with_claim_and_key(folder, change, message):
    with pytest.raises(ConfigError) as caught:
        declared(folder, {"sfg": {"S3": {**GAIN, **change}}})
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{folder / 'claims.yaml'}: sfg.S3")
    assert "\n" not in str(caught.value)


THEORY = {"source": "s", "text": "t", "published": None, "unit": "share"}


@pytest.mark.parametrize(
    ("registry", "message"),
    [
        ({"sgf": {"S3": GAIN}}, "unknown study 'sgf'; did you mean 'sfg'"),
        ({"sfg": {"S3": GAIN, "S4": {**GAIN, "text": "other"}}}, "sfg.S4: says the same as S3"),
        (
            {"sfg": {"S3": GAIN}, "dflaa": {"S3": THEORY | {"finding": {"check": "a", "statement": "b"}}}},
            "stands twice",
        ),
        ("sfg:\n  S3: {}\n  S3: {}\n", "claims.yaml: not valid YAML: the key 'S3' stands twice, in line 2"),
        ({"sfg": {"s3": GAIN}}, "expected: an id such as S3"),
        (
            {"sfg": {"T": THEORY | {"finding": {"check": "scalar_toys", "statement": "b"}}}},
            "sfg.T.finding.check: unknown check 'scalar_toys'; did you mean 'scalar_toy'",
        ),
    ],
)
def test_a_mistake_in_the_registry_is_told(folder, registry, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        declared(folder, registry)


def test_only_claims_of_configured_studies_are_checked_and_tested(folder):
    other = {"dflaa": {"D": {**GAIN, "experiment": "nothing"}}}
    assert list(declared(folder, {"sfg": {"S3": GAIN}, **other}, ["sfg"])) == ["sfg"]
    with pytest.raises(ConfigError, match="unknown experiment 'nothing'"):
        declared(folder, {"sfg": {"S3": GAIN}, **other})


def test_every_paper_is_covered():
    claims = declared_claims({"studies": STUDIES}, CONFIG)
    assert {study: len(own) > 12 for study, own in claims.items()} == dict.fromkeys(STUDIES, True)
    assert sum(map(len, claims.values())) >= 60
    assert all(claim["published"] is not None for claim in CLAIMS["sfg"].values() if claim.get("scale"))


def test_what_claims_say_can_be_printed_by_latex():
    texts = "".join(
        claim[key] for own in CLAIMS.values() for claim in own.values() for key in ("text", "source", "unit")
    )
    assert {character for character in texts.translate(LATEX) if not character.isascii()} == set()


def cells():
    """The published test accuracies of the FedSWE paper at α = 0.1, and of Table 9."""
    frame = pd.read_csv(CONFIG / "published" / "fedswe.csv", dtype=str, keep_default_na=False)
    frame = frame[frame["metric"] == "test"].rename(columns={"availability.probability.kind": "availability"})
    return frame.astype({"mean": float})


def test_published_cells_of_fedswe_are_those_of_its_tables():
    checked = 0
    for name, claim in CLAIMS["fedswe"].items():
        if "-cell-" not in name:
            continue
        own = cells()
        own = own[own["method"] == claim["statistic"]["method"]]
        if claim["experiment"] == "heterogeneity":
            own = own[
                (own["table"] == "9") & (own["partition.alpha"].astype(float) == claim["where"]["partition.alpha"])
            ]
        else:
            own = own[(own["table"] == "2") & (own["availability"] == claim["where"]["availability"])]
            own = own[own["dataset.kind"] == claim["where"]["task"]]
        assert own["mean"].to_list() == [claim["published"]], name
        checked += 1
    assert checked == 15


@pytest.mark.parametrize("name", ["F2-k0", "F2-km", "F2-train", "F2-all"])
def test_published_leads_of_fedswe_follow_from_table_2(name):
    claim = CLAIMS["fedswe"][name]
    frame = pd.read_csv(CONFIG / "published" / "fedswe.csv", dtype=str, keep_default_na=False)
    metric = "train" if "measure" in claim else "test"
    frame = frame[(frame["table"] == "2") & (frame["metric"] == metric)].astype({"mean": float})
    wide = frame.pivot(index=["dataset.kind", "availability.probability.kind"], columns="method", values="mean")
    ahead, behind = ([group] if isinstance(group, str) else group for group in claim["statistic"]["order"])
    least = min((wide[one] - wide[other]).min() for one, other in product(ahead, behind))
    assert least == pytest.approx(claim["published"])
    assert len(wide) == 9


def test_published_cells_of_dflaa_are_those_of_its_text():
    frame = pd.read_csv(CONFIG / "published" / "dflaa.csv", dtype=str, keep_default_na=False)
    known = set(frame["mean"].astype(float))
    named = {name: claim["published"] for name, claim in CLAIMS["dflaa"].items() if "cell" in name}
    assert len(named) == 11
    assert {name for name, value in named.items() if value not in known} == set()


def test_findings_that_claims_name_are_those_of_the_studies():
    for study, claims in CLAIMS.items():
        checks = read_yaml(CONFIG / "studies" / f"{study}.yaml")["theory"]
        assert {claim["finding"]["check"] for claim in claims.values() if "finding" in claim} <= set(checks)
