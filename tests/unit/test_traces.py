"""Traces on disk, what is known of the recorded ones, and the availability of clients that follow one."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outagefl.describe.trace_statistics import runs, statistics
from outagefl.errors import DataError, InputError
from outagefl.inputs import availabilities, storage, traces
from outagefl.inputs.availability import smartphone
from outagefl.inputs.availability import trace as follow
from outagefl.inputs.traces import OFFLINE, ONLINE, UNKNOWN, Trace
from outagefl.traces import extrasensory, flash_events, flash_matrix
from tests.unit.trace_statistics import PUBLISHED, assert_near

# --- Files ---


def test_a_trace_comes_back_as_it_was(tmp_path):
    for start in ("2020-01-29T00:00", None):
        made = Trace(np.array([[1, 0, -1]], np.int8), 30, start, {"malformed lines": 3})
        traces.save(tmp_path / "t.npz", made)
        again = traces.load(tmp_path / "t.npz")
        assert np.array_equal(again.state, made.state)
        assert (again.slot_minutes, again.start, again.counts) == (30, start, {"malformed lines": 3})


def test_a_trace_is_made_from_its_spec_and_says_what_it_counted(tmp_path, caplog):
    np.save(tmp_path / "m.npy", np.repeat([[1, np.nan], [0, 1]], [1, 240], axis=0))
    with caplog.at_level(logging.INFO):
        traces.create({"trace": {"kind": "flash_matrix"}}, {"source": tmp_path / "m.npy"}, tmp_path / "t.npz")
    assert traces.load(tmp_path / "t.npz").state[:2].tolist() == [[ONLINE, UNKNOWN], [OFFLINE, ONLINE]]
    assert "m.npy: 241 slots, 2 devices" in caplog.text
    assert "m.npy: 1 unknown states" in caplog.text


def test_a_trace_without_a_device_is_refused(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps({}))
    spec = {"kind": "flash_events", "slot_minutes": 30, "idle": "screen_off", "start": "2020-01-29", "days": 1}
    with pytest.raises(DataError, match=r"t\.json: holds no device or no slot"):
        traces.create(
            {"trace": spec | {"clock_tolerance_seconds": 0}}, {"source": tmp_path / "t.json"}, tmp_path / "t.npz"
        )
    assert not (tmp_path / "t.npz").exists()


def test_a_file_that_holds_no_trace_is_refused(tmp_path):
    whole = {"slot_minutes": np.array(30.0), "start": np.array(""), "counts": np.array("{}")}
    storage.write(tmp_path / "wide.npz", state=np.zeros((2, 2)), **whole)
    storage.write(tmp_path / "flat.npz", state=np.zeros(2, np.int8), **whole)
    storage.write(tmp_path / "empty.npz", state=np.zeros((0, 2), np.int8), **whole)
    storage.write(tmp_path / "states.npz", state=np.full((2, 2), 2, np.int8), **whole)
    storage.write(tmp_path / "counts.npz", state=np.zeros((2, 2), np.int8), **whole | {"counts": np.array("{")})
    storage.write(tmp_path / "part.npz", state=np.zeros((2, 2), np.int8))
    for name in ("wide", "flat", "empty", "states", "counts", "part", "absent"):
        with pytest.raises(DataError, match=rf"{name}\.npz: "):
            traces.load(tmp_path / f"{name}.npz")


# --- Recorded traces ---


@pytest.fixture
def flash(shared):
    """The processed FLASH trace."""
    return flash_matrix.read(shared / "data" / "flash_availability_matrix.npy")


def test_the_flash_matrix_is_the_published_one(flash):
    assert flash.state.shape == (241, 723)
    found = statistics(flash)
    assert np.round(found["share online"], 4) == 0.0812
    assert np.round(found["hourly share"], 3).tolist() == PUBLISHED["hourly share"].tolist()
    for name, published in PUBLISHED.items():
        assert found[name] == pytest.approx(published, abs=0.002, rel=0.002), name


def test_synthetic_smartphones_stand_beside_the_flash_matrix(flash):
    recorded = statistics(flash)
    phones = smartphone.matrix(241, 2000, np.random.default_rng(4)).astype(np.int8)
    synthetic = statistics(Trace(phones, 30, "00:00", {}))
    for name in PUBLISHED:
        assert_near(synthetic, recorded, name, "recorded")


def test_the_excerpt_of_flash_events(shared):
    source = shared / "data" / "flash_events_excerpt.json"
    options = {"slot_minutes": 30, "start": "2020-02-01 00:00", "days": 3, "clock_tolerance_seconds": 0}
    trace = flash_events.read(source, idle="screen_off", **options)
    assert trace.counts == {
        "lines": 59,
        "malformed lines": 0,
        "lines out of order": 0,
        "unknown network states": 3,
        "unrecognised states": 0,
    }
    state = trace.state[:, 0]
    expected = np.full(144, OFFLINE)  # it runs on battery where nothing else is said
    expected[:46] = UNKNOWN  # the first line is from 20:20; until 22:50 it charges, but there is no word of a network
    expected[90:112] = ONLINE  # charging from 20:58, screen off, on Wi-Fi since 15:29, to 07:33
    expected[118:120] = ONLINE  # 10:55 to 11:55
    expected[140:] = UNKNOWN  # after the last line, at 21:34
    assert state.tolist() == expected.tolist()
    locked = flash_events.read(source, idle="screen_locked", **options).state[:, 0]
    assert locked[90:111].all()  # locked at 20:52


@pytest.mark.parametrize("slot_minutes", [1, 30])
def test_extrasensory_phones_charge_on_wifi_at_night(shared, slot_minutes):
    trace = extrasensory.read(
        shared / "data" / "extrasensory_phone_state.csv.gz",
        slot_minutes=slot_minutes, days=29, longest_gap_minutes=5, time_zone="America/Los_Angeles",
    )  # fmt: skip
    assert trace.counts["records"] == 130_671
    assert trace.state.shape[1] == 30
    hour = np.arange(len(trace.state)) * slot_minutes // 60 % 24
    known = trace.state != UNKNOWN
    share = {h: (trace.state[hour == h] == ONLINE).sum() / known[hour == h].sum() for h in range(24)}
    assert share[4] == pytest.approx(0.60, abs=0.03)
    assert share[9] == pytest.approx(0.13, abs=0.03)
    assert all(0.14 <= share[h] <= 0.36 for h in range(12, 19))  # published per record: .17 to .33


# --- Clients that follow a trace ---

PLAIN = {"unknown": "offline", "start_slot": 0, "min_coverage": 0, "drop_never_online": False}
STATES = np.array(
    [
        [ONLINE, OFFLINE, UNKNOWN, OFFLINE, ONLINE],
        [ONLINE, OFFLINE, ONLINE, UNKNOWN, OFFLINE],
        [OFFLINE, OFFLINE, UNKNOWN, UNKNOWN, ONLINE],
        [OFFLINE, OFFLINE, ONLINE, OFFLINE, ONLINE],
    ],
    np.int8,
)  # devices 0 and 4 are fully known and online at times, 1 and 3 never are


@pytest.fixture
def prepared(tmp_path):
    traces.save(tmp_path / "t.npz", Trace(STATES, 30, None, {}))
    return tmp_path / "t.npz"


def online(prepared, rounds=4, clients=5, seed=0, **options):
    rng = np.random.default_rng(seed)
    return follow.matrix(rounds, clients, rng, trace=prepared, **{**PLAIN, "replacement": "never", **options})


def columns(matrix):
    return sorted(map(tuple, matrix.T.astype(int).tolist()))


def test_every_client_follows_a_device_of_its_own(prepared):
    assert columns(online(prepared)) == columns(STATES == ONLINE)
    assert online(prepared).dtype == bool
    assert np.array_equal(online(prepared), online(prepared))
    assert len({online(prepared, seed=seed).tobytes() for seed in range(20)}) > 10


def test_a_trace_begins_again_after_its_last_slot(prepared):
    for start in range(4):
        expected = STATES[(start + np.arange(11)) % 4] == ONLINE
        assert columns(online(prepared, rounds=11, start_slot=start)) == columns(expected)


def test_unknown_is_what_is_asked_for(prepared):
    assert columns(online(prepared, unknown="online")) == columns(STATES != OFFLINE)
    known = STATES[:, [0, 1, 4]] == ONLINE
    assert columns(online(prepared, clients=3, unknown="drop_device")) == columns(known)


def test_the_share_online_is_told_of_known_and_of_all_slots(prepared, caplog):
    with caplog.at_level(logging.INFO):
        online(prepared, unknown="offline")
    assert "0.2000 of the followed slots are unknown" in caplog.text
    assert "online: 0.4375 of the known slots" in caplog.text  # 7 of 16
    assert "online: 0.3500 of all slots, with unknown: offline" in caplog.text


def test_a_device_of_which_nothing_is_known_can_be_followed(tmp_path, caplog):
    traces.save(tmp_path / "t.npz", Trace(np.full((3, 1), UNKNOWN, np.int8), 30, None, {}))
    with caplog.at_level(logging.INFO):
        assert online(tmp_path / "t.npz", clients=1, unknown="online").all()
    assert "1.0000 of the followed slots are unknown" in caplog.text


def test_devices_are_left_out_by_coverage_and_activity(prepared):
    assert columns(online(prepared, clients=5, min_coverage=0.5)) == columns(STATES == ONLINE)
    assert columns(online(prepared, clients=3, min_coverage=0.51)) == columns(STATES[:, [0, 1, 4]] == ONLINE)
    assert columns(online(prepared, clients=3, drop_never_online=True)) == columns(STATES[:, [0, 2, 4]] == ONLINE)
    both = online(prepared, clients=2, min_coverage=1, drop_never_online=True)
    assert columns(both) == columns(STATES[:, [0, 4]] == ONLINE)


@given(st.integers(1, 12), st.integers(0, 1000))
def test_devices_are_shared_only_as_allowed(tmp_path_factory, clients, seed):
    path = tmp_path_factory.mktemp("trace") / "t.npz"
    traces.save(path, Trace(np.eye(6, dtype=np.int8), 30, None, {}))  # the device is the slot it is online in
    followed = {
        replacement: online(path, rounds=6, clients=clients, seed=seed, replacement=replacement).argmax(axis=0)
        for replacement in ("when_needed", "always", *(["never"] if clients <= 6 else []))
    }
    if clients <= 6:
        assert len(set(followed["never"])) == clients
        assert np.array_equal(followed["never"], followed["when_needed"])
    assert len(followed["always"]) == len(followed["when_needed"]) == clients


def test_always_replacing_shares_devices(prepared):
    drawn = [tuple(map(tuple, online(prepared, clients=5, seed=s, replacement="always").T)) for s in range(20)]
    assert min(len(set(clients)) for clients in drawn) < 4  # devices 1 and 3 look alike


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"clients": 6}, ["5 of 5 devices are left for 6 clients", "replacement: never", "at least 6"]),
        (
            {"clients": 3, "min_coverage": 0.9, "drop_never_online": True},
            ["2 of 5 devices", "3 clients", "0.9", "True"],
        ),
        ({"unknown": "offlin"}, ["availability.unknown", "did you mean 'offline'"]),
        ({"unknown": ["offline"]}, ["availability.unknown", "unknown value ['offline']"]),
        ({"replacement": "no"}, ["availability.replacement", "'no'", "when_needed"]),
        ({"min_coverage": 1.1}, ["availability.min_coverage: 1.1", "from 0 to 1"]),
        ({"start_slot": 4}, ["availability.start_slot: 4", "from 0 to 3"]),
        ({"start_slot": -1}, ["availability.start_slot: -1"]),
    ],
)
def test_what_cannot_be_made_is_refused_with_numbers(prepared, options, parts):
    with pytest.raises(InputError) as caught:
        online(prepared, **options)
    for part in parts:
        assert part in str(caught.value)


def test_a_trace_in_which_nobody_takes_part_leaves_no_device(tmp_path):
    traces.save(tmp_path / "t.npz", Trace(np.zeros((3, 2), np.int8), 30, None, {}))
    with pytest.raises(InputError, match=r"0 of 2 devices are left for 5 clients .* expected at least 1"):
        online(tmp_path / "t.npz", replacement="always", drop_never_online=True)


@pytest.mark.parametrize("unknown", ["offline", "drop_device"])
@pytest.mark.parametrize(
    ("busy", "told"),
    [([], "in no slot"), ([0, 1], "in 2 of 8 slots, from 0 to 1"), ([0, 6], "in 2 of 8 slots, from 0 to 6")],
)
def test_a_part_of_a_trace_in_which_no_device_is_online_is_refused(tmp_path, busy, told, unknown):
    state = np.zeros((8, 3), np.int8)
    state[busy, 1] = ONLINE
    state[3, 2] = UNKNOWN
    traces.save(tmp_path / "t.npz", Trace(state, 30, None, {}))
    options = {"clients": 9, "unknown": unknown, "start_slot": 2, "replacement": "when_needed"}
    with pytest.raises(InputError) as caught:
        online(tmp_path / "t.npz", rounds=4, **options)
    devices = 3 if unknown == "offline" else 2
    assert str(caught.value) == (
        "availability.start_slot: 2: in the 4 slots followed from there on, one a round, none of "
        f"{devices} devices is ever online (unknown: {unknown}); in the whole trace one is {told}"
    )
    assert online(tmp_path / "t.npz", rounds=4, **options | {"unknown": "online"}).any()
    if busy:
        assert online(tmp_path / "t.npz", rounds=8, **options).any()


def test_clients_that_are_offline_by_chance_are_followed_and_it_is_told(tmp_path, caplog):
    state = np.zeros((4, 50), np.int8)
    state[:, 0] = ONLINE
    traces.save(tmp_path / "t.npz", Trace(state, 30, None, {}))
    settings = {"kind": "trace", "trace": {"kind": "flash_matrix"}, "replacement": "never", **PLAIN}
    for clients, told in ((1, True), (50, False)):
        caplog.clear()
        spec = {"availability": settings, "rounds": 4, "clients": clients, "seed": 0}
        availabilities.create(spec, {"trace": tmp_path / "t.npz"}, tmp_path / "a.npy")
        assert ("nobody is online in any of the 4 rounds" in caplog.text) is told
        assert availabilities.load(tmp_path / "a.npy").any() is not told


def test_a_matrix_is_made_from_its_spec_and_its_trace(prepared, tmp_path):
    settings = {"kind": "trace", "trace": {"kind": "flash_matrix"}, "replacement": "when_needed", **PLAIN}
    spec = {"availability": settings, "rounds": 9, "clients": 7}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        availabilities.create({**spec, "seed": seed}, {"trace": prepared}, tmp_path / f"{name}.npy")
    made, again, other = (availabilities.load(tmp_path / f"{name}.npy") for name in "abc")
    assert made.shape == (9, 7)
    assert np.array_equal(made, again)
    assert not np.array_equal(made, other)


def test_clients_that_follow_the_flash_matrix_are_online_as_its_devices_are(shared, tmp_path):
    traces.save(tmp_path / "t.npz", flash_matrix.read(shared / "data" / "flash_availability_matrix.npy"))
    matrix = online(tmp_path / "t.npz", rounds=241, clients=723)
    assert matrix.mean() == pytest.approx(0.0812 * (1 - 0.1918), abs=0.001)  # 19.18 % is unknown
    lengths = runs(matrix, ONLINE)
    assert np.quantile(lengths, (0.25, 0.5, 0.75)).tolist() == [1, 2, 4]
