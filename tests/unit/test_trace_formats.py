"""Every format of traces, in files written as their makers write them, whole and broken."""

from __future__ import annotations

import json
import os
import pickle
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outagefl.errors import DataError, InputError
from outagefl.inputs.traces import OFFLINE, ONLINE, UNKNOWN
from outagefl.traces import extrasensory, fedscale, flash_events, flash_matrix
from tests.unit.trace_files import write_text

HALF_HOUR = 1800  # seconds


def runs_of(states):
    """The states of one device as pairs (state, slots)."""
    ends = [*np.flatnonzero(np.diff(states)), len(states) - 1]
    return [(int(states[end]), int(length)) for end, length in zip(ends, np.diff(ends, prepend=-1), strict=True)]


# --- FLASH, processed ---


def five_days(*slots):
    """A matrix of as many slots as FLASH's has, of which the first are given."""
    matrix = np.zeros((241, len(slots[0])), np.array(slots).dtype)
    matrix[: len(slots)] = slots
    return matrix


def test_a_flash_matrix_is_read_with_its_unknown_slots(tmp_path):
    np.save(tmp_path / "m.npy", five_days([1, 0, np.nan], [0, np.nan, 1.0]))
    trace = flash_matrix.read(tmp_path / "m.npy")
    assert (trace.state.dtype, trace.state.shape) == (np.int8, (241, 3))
    assert trace.state[:3].tolist() == [[ONLINE, OFFLINE, UNKNOWN], [OFFLINE, UNKNOWN, ONLINE], [OFFLINE] * 3]
    assert (trace.slot_minutes, trace.start, trace.counts) == (30, "2020-01-29T00:00", {"unknown states": 2})


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (five_days([0, 1], [0.5, 1]), "slot 1, device 0: 0.5 is none of 1, 0 and NaN"),
        (five_days([0, np.inf]), "slot 0, device 1: inf is none"),
        (five_days([0, -1]), "slot 0, device 1: -1 is none"),
        (np.zeros(241), r"float64 of shape \(241,\); expected a matrix of numbers, 241 slots by devices"),
        (np.zeros((241, 2, 2)), "float64 of shape .* expected a matrix"),
        (np.zeros((723, 241)), r"float64 of shape \(723, 241\); expected a matrix of numbers, 241 slots by devices"),
        (five_days(["0", "1"]), "<U1 of shape .* expected a matrix"),
        (np.array([[{}]], object), "not a sound array file: it holds Python objects"),
    ],
)
def test_a_matrix_with_anything_else_is_refused(tmp_path, matrix, message):
    np.save(tmp_path / "m.npy", matrix)
    with pytest.raises(DataError, match=rf"m\.npy: {message}"):
        flash_matrix.read(tmp_path / "m.npy")


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\x00", b"no array"])
def test_a_damaged_matrix_is_refused(tmp_path, content):
    (tmp_path / "m.npy").write_bytes(content)
    with pytest.raises(DataError, match=r"m\.npy: not a sound array file"):
        flash_matrix.read(tmp_path / "m.npy")


# --- FLASH, raw events ---

NOON = datetime(2020, 1, 29, 12)
WINDOW = {"slot_minutes": 30, "idle": "screen_off", "start": "2020-01-29 12:00", "days": 0.25}


def messages(*events):
    """Lines as FLASH has them, from (minutes after noon, state)."""
    return "".join(f"{NOON + timedelta(minutes=minutes)} \t{state}\n" for minutes, state in events)


def write_events(path, **devices):
    content = {name: {"guid": f"guid-{name}", "model": "unknown", "messages": text} for name, text in devices.items()}
    path.write_text(json.dumps(content))
    return path


def read_events(path, **options):
    return flash_events.read(path, **{**WINDOW, "clock_tolerance_seconds": 60, **options})


def test_a_phone_is_online_while_idle_charging_and_on_wifi(tmp_path):
    text = messages(
        (1, "screen_off"), (2, "80.0%"), (10, "battery_charged_on"), (29, "wifi"),  # online from 12:29
        (75, "screen_on"), (80, "screen_off"),                                       # at 13:30 again
        (119, "4G"), (150, "WIFI"),                                                  # offline from 13:59 to 14:30
        (200, "battery_charged_off"), (300, "90.0%"),                                # offline to its end at 17:00
    )  # fmt: skip
    trace = read_events(write_events(tmp_path / "t.json", a=text))
    assert runs_of(trace.state[:, 0]) == [
        (UNKNOWN, 1),
        (ONLINE, 3),
        (OFFLINE, 1),
        (ONLINE, 2),
        (OFFLINE, 4),
        (UNKNOWN, 1),
    ]
    assert trace.start == "2020-01-29T12:00"
    assert trace.slot_minutes == 30


def test_what_is_known_to_be_off_settles_a_state_before_the_rest_is_known(tmp_path):
    text = messages((10, "screen_off"), (40, "battery_charged_off"), (100, "battery_charged_on"), (200, "1.0%"))
    state = read_events(write_events(tmp_path / "t.json", a=text)).state[:, 0]
    assert runs_of(state) == [(UNKNOWN, 2), (OFFLINE, 2), (UNKNOWN, 8)]  # charging, but no word of a network


def test_idle_can_mean_locked(tmp_path):
    text = messages(
        (0, "battery_charged_on"), (0, "wifi"), (0, "screen_off"), (0, "screen_unlock"), (45, "screen_lock")
    )
    path = write_events(tmp_path / "t.json", a=text + messages((100, "screen_on"), (160, "5.0%")))
    assert runs_of(read_events(path).state[:, 0]) == [(ONLINE, 4), (OFFLINE, 2), (UNKNOWN, 6)]
    assert runs_of(read_events(path, idle="screen_locked").state[:, 0]) == [(OFFLINE, 2), (ONLINE, 4), (UNKNOWN, 6)]


def test_events_before_the_window_carry_into_it(tmp_path):
    text = messages((-900, "screen_off"), (-800, "battery_charged_on"), (-700, "wifi"), (61, "7.0%"))
    state = read_events(write_events(tmp_path / "t.json", a=text)).state[:, 0]
    assert runs_of(state) == [(ONLINE, 3), (UNKNOWN, 9)]


def test_what_cannot_be_used_is_counted_not_dropped_in_silence(tmp_path):
    odd = [
        "2020-13-29 12:00:00 \twifi",  # no such month
        "2020-01-29 12:00 \twifi",
        "2020-01-29 12:00:00 wifi",  # no tab
        "2020-01-29 12:00:00 \t",
        "2020-01-29 12:00:00 \twifi\twifi",
        "2020-01-29T12:00:00 \twifi",
        "at 2020-01-29 12:00:00 \twifi",
        "\x00\x00",
    ]
    text = messages((0, "Unknown"), (1, "unknown"), (2, "ethernet"), (3, "phone_off"), (4, "5G"), (5, "98.5%"))
    path = write_events(tmp_path / "t.json", a=text + "\n" + "\n".join(odd), b="")
    trace = read_events(path)
    assert trace.counts == {
        "lines": 14,
        "malformed lines": 8,
        "lines out of order": 0,
        "unknown network states": 2,
        "unrecognised states": 2,
    }
    assert (trace.state[:, 1] == UNKNOWN).all()


def test_blanks_around_time_and_state_do_no_harm(tmp_path):
    events = messages((0, "screen_off"), (0, "battery_charged_on"), (0, "wifi"), (300, "9.0%"))
    odd = events.replace(" \t", "\t \t").replace("2020", "\t 2020").replace("\n", " \r\n")
    path = write_events(tmp_path / "t.json", plain=events, odd=odd)
    trace = read_events(path)
    assert np.array_equal(trace.state[:, 0], trace.state[:, 1])
    assert trace.counts["malformed lines"] == 0


def test_a_clock_that_goes_back_a_little_is_put_right_and_a_lot_is_refused(tmp_path):
    on = messages((0, "screen_off"), (0, "battery_charged_on"), (31, "wifi"), (30, "Unknown"), (70, "9.0%"))
    path = write_events(tmp_path / "t.json", good=messages((0, "wifi")), a=on)
    trace = read_events(path)
    assert trace.counts["lines out of order"] == 1
    assert runs_of(trace.state[:, 1]) == [(UNKNOWN, 1), (OFFLINE, 1), (ONLINE, 1), (UNKNOWN, 9)]
    with pytest.raises(DataError) as caught:
        read_events(path, clock_tolerance_seconds=59)
    assert str(caught.value) == (
        f"{path}: device a, line 4: 2020-01-29 12:30:00 is 60 s before line 3 (2020-01-29 12:31:00); one of the two is "
        "wrong (trace.clock_tolerance_seconds allows 59 s)"
    )


def test_a_line_from_the_future_is_named_beside_the_one_that_shows_it(tmp_path):
    path = write_events(tmp_path / "t.json", a=messages((0, "wifi"), (6000, "screen_on"), (1, "4G"), (2, "wifi")))
    with pytest.raises(
        DataError, match=r"line 3: 2020-01-29 12:01:00 is 359940 s before line 2 \(2020-02-02 16:00:00\)"
    ):
        read_events(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not readable as JSON"),
        ('{"0": {"guid"', "not readable as JSON"),
        ("[" * 200_000, "not readable as JSON"),
        ("[]", "expected a mapping of devices, found list"),
        ('{"7": {"guid": "g", "model": "m"}}', "device 7: expected guid, model and messages"),
        ('{"7": "text"}', "device 7: expected guid, model and messages"),
        ('{"7": {"messages": ["line"]}}', "device 7: expected guid, model and messages"),
        ('{"7": {"messages": ""}, "7": {"messages": ""}}', r"not readable as JSON \(the key '7' stands 2 times"),
        ('{"7": {"messages": "a", "messages": "b"}}', r"not readable as JSON \(the key 'messages' stands 2 times"),
    ],
)
def test_json_of_another_form_is_refused(tmp_path, content, message):
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(DataError, match=rf"t\.json: {message}"):
        read_events(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"idle": "screen-off"}, "trace.idle: unknown value 'screen-off'; did you mean 'screen_off'?"),
        ({"start": "noon"}, "trace.start: 'noon' is not a local date and time"),
        ({"start": "2020-01-29T12:00+08:00"}, "trace.start: .* is not a local date and time"),
        ({"slot_minutes": 0}, "trace.slot_minutes: 0 is not"),
        ({"days": float("inf")}, "trace.days: inf is not"),
        ({"days": 0.01}, "trace.days: 0.01 days hold no slot of 30 minutes"),
        ({"clock_tolerance_seconds": -1}, "trace.clock_tolerance_seconds: -1"),
        ({"days": 3661}, "trace.days: 3661 is not a finite number above 0 up to 3660"),
        ({"days": 10**400}, "trace.days: 10+ is not"),
        ({"slot_minutes": 10_081}, "trace.slot_minutes: 10081 is not a finite number above 0 up to 10080"),
        ({"slot_minutes": 1e-9}, "trace.slot_minutes: slots of 1e-09 minutes divide 0.25 days into 3.6e.11; at most"),
        ({"slot_minutes": 5e-324}, "trace.slot_minutes: slots of 5e-324 minutes"),
        ({"slot_minutes": 0.1, "days": 3660}, "divide 3660 days into 5.27e.07; at most 10000000 are accepted"),
    ],
)
def test_options_that_cannot_be_used_are_named(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        read_events(write_events(tmp_path / "t.json", a=""), **options)


# --- FedScale ---


def client(active, inactive, finish_time=86_400, **changes):
    entry = {"duration": 1, "inactive": inactive, "finish_time": finish_time, "active": active, "model": "SM-J730GM"}
    return entry | changes


def write_pickle(path, content, protocol=4):
    path.write_bytes(pickle.dumps(content, protocol))
    return path


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_client_is_online_inside_its_intervals_again_and_again(tmp_path, protocol):
    long = client([0, 80_000], [1800, 86_399])
    short = client([3600], [5400], 7200)  # repeats after two hours
    path = write_pickle(tmp_path / "trace", {1: long, 2: short}, protocol)
    trace = fedscale.read(path, slot_minutes=30)
    assert trace.state.shape == (48, 2)
    assert runs_of(trace.state[:, 0]) == [(ONLINE, 2), (OFFLINE, 43), (ONLINE, 3)]
    assert trace.state[:, 1].tolist() == [OFFLINE, OFFLINE, ONLINE, ONLINE] * 12
    assert trace.start is None


TIMES = st.lists(st.integers(0, 20_000), max_size=6)


@given(st.lists(st.tuples(TIMES, st.integers(1, 15_000)), min_size=1, max_size=4))
def test_fedscale_agrees_with_its_definition(tmp_path_factory, drawn):
    clients = {}
    for number, (times, finish) in enumerate(drawn):
        half = len(times) // 2
        clients[number] = client(times[:half], times[half : 2 * half], finish)  # overlapping, reversed, beyond the end
    path = write_pickle(tmp_path_factory.mktemp("pickle") / "trace", clients)
    state = fedscale.read(path, slot_minutes=10).state
    for slot, column in np.ndindex(state.shape):
        entry = clients[column]
        now = slot * 600 % entry["finish_time"]
        inside = any(a <= now <= b for a, b in zip(entry["active"], entry["inactive"], strict=True))
        assert state[slot, column] == inside


def test_intervals_of_fedscale_that_never_hold_are_counted(tmp_path):
    clients = {1: client([0, 50, 7200, 9000], [10, 40, 7300, 8000], 7200), 2: client([86_399], [90_000])}
    trace = fedscale.read(write_pickle(tmp_path / "trace", clients), slot_minutes=30)
    assert trace.counts == {"intervals that end before they begin": 2, "intervals that begin after finish_time": 1}


class Attack:
    def __init__(self, call, *arguments):
        self.call = call, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    "content",
    [
        {1: Attack(os.system, "touch harm")},
        {1: client([0], [1], model=Attack(eval, "open('harm', 'w')"))},
        {1: client(np.array([0]), np.array([1]))},  # harmless, but not plain
        {1: client([0], [1], np.int64(5))},
        {datetime(2020, 1, 1): client([0], [1])},
        Attack(bytearray, 10),
    ],
)
def test_a_pickle_that_asks_for_more_than_plain_data_is_refused(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"trace: not a pickle of plain data: it asks for \S+, which is refused"):
        fedscale.read(write_pickle(tmp_path / "trace", content), slot_minutes=30)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "expected a dict of clients, found list"),
        ({}, "expected a dict of clients"),
        ({7: [1]}, "client 7: expected a dict with active, inactive and finish_time"),
        ({7: {"active": [], "inactive": []}}, "client 7: expected a dict with"),
        ({None: client([0], [1])}, "not a pickle of plain data: a key is a NoneType"),
        ({7: client([0, 5], [1])}, "client 7: active and inactive are not two lists of the same length"),
        ({7: client(0, 1)}, "client 7: active: expected a list of numbers from 0 to 316224000 s"),
        ({7: client(["0"], [1])}, "client 7: active: expected a list of numbers"),
        ({7: client([0], [float("nan")])}, "client 7: inactive: expected a list of numbers"),
        ({7: client([-1], [1])}, "client 7: active: expected a list of numbers"),
        ({7: client([[0], [1, 2]], [1])}, "client 7: active: expected a list of numbers"),
        ({7: client([[0], [1]], [[1], [2]])}, "client 7: active: expected a list of numbers"),
        ({7: client([2**70], [1])}, "client 7: active: expected a list of numbers"),
        ({7: client([0], [1], 0)}, "client 7: finish_time: 0 is not a number above 0"),
        ({7: client([0], [1], [5])}, "client 7: finish_time: list is not a number above 0"),
        ({6: client([0], [1]), 7: client([0], [1], 10**13)}, "client 7: finish_time: 10000000000000 is not a number"),
        ({7: client([0], [1], 10**5000)}, "client 7: finish_time: int is not a number above 0 up to 316224000 s"),
    ],
)
def test_a_pickle_of_another_form_is_refused(tmp_path, content, message):
    with pytest.raises(DataError, match=f"trace: {message}"):
        fedscale.read(write_pickle(tmp_path / "trace", content), slot_minutes=30)


def test_a_damaged_pickle_is_refused(tmp_path):
    path = write_pickle(tmp_path / "trace", {1: client([0], [1])})
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="trace: not a pickle of plain data"):
        fedscale.read(path, slot_minutes=30)


def test_slots_too_short_for_fedscale_are_named(tmp_path):
    path = write_pickle(tmp_path / "trace", {1: client([0], [1])})
    with pytest.raises(InputError, match=r"trace\.slot_minutes: slots of 1e-06 minutes divide 1 days into"):
        fedscale.read(path, slot_minutes=1e-6)


# --- ExtraSensory ---

HEADER = "user,timestamp,charging,battery_missing,wifi,wifi_missing,battery_level\n"
MIDNIGHT = 1_444_028_400  # 2015-10-05 00:00 in Los Angeles, 07:00 UTC
PACIFIC = {"slot_minutes": 30, "days": 0.25, "longest_gap_minutes": 10, "time_zone": "America/Los_Angeles"}


def minutes(user, first, count, charging=1, wifi=1, missing=(0, 0)):
    """A record a minute, from so many minutes after midnight on."""
    battery_missing, wifi_missing = missing
    return "".join(
        f"{user},{MIDNIGHT + 60 * minute},{charging},{battery_missing},{wifi},{wifi_missing},0.5\n"
        for minute in range(first, first + count)
    )


@pytest.mark.parametrize("packed", [False, True])
def test_phones_start_at_their_own_midnight_and_are_unknown_in_gaps(tmp_path, packed):
    text = HEADER + minutes("a", 29, 60) + minutes("a", 180, 45, wifi=0)
    text += minutes("b", 1440 * 3, 31, charging=0) + minutes("b", 1440 * 3 + 31, 100)  # three days later
    trace = extrasensory.read(write_text(tmp_path / "phones", text, packed), **PACIFIC)
    assert runs_of(trace.state[:, 0]) == [(UNKNOWN, 1), (ONLINE, 3), (UNKNOWN, 2), (OFFLINE, 2), (UNKNOWN, 4)]
    assert runs_of(trace.state[:, 1]) == [(OFFLINE, 2), (ONLINE, 3), (UNKNOWN, 7)]
    assert trace.start == "00:00"
    assert trace.counts == dict.fromkeys(extrasensory.COUNTED, 0) | {"records": 236}


@pytest.mark.parametrize(
    ("record", "state"),
    [
        ({"charging": 1, "wifi": 1}, ONLINE),
        ({"charging": "1.0", "wifi": "0.0"}, OFFLINE),
        ({"charging": "", "wifi": 1}, UNKNOWN),
        ({"charging": "nan", "wifi": 0}, OFFLINE),  # whatever the battery did
        ({"charging": "NaN", "wifi": " 1"}, UNKNOWN),
        ({"charging": 1, "wifi": 1, "missing": (1, 0)}, UNKNOWN),
        ({"charging": 1, "wifi": 0, "missing": (0, 1)}, UNKNOWN),
        ({"charging": 0, "wifi": 1, "missing": (0, 1)}, OFFLINE),
    ],
)
def test_a_missing_flag_is_unknown_unless_the_other_settles_it(tmp_path, record, state):
    path = write_text(tmp_path / "phones.csv", HEADER + minutes("a", 0, 40, **record))
    trace = extrasensory.read(path, **PACIFIC)
    assert trace.state[:2, 0].tolist() == [state, state]
    assert trace.counts["records with an unknown state"] == (40 if state == UNKNOWN else 0)


def test_of_records_at_one_time_the_last_holds_and_those_that_differ_are_counted(tmp_path):
    text = minutes("a", 0, 1) + minutes("a", 0, 1) + minutes("a", 0, 1, wifi=0) + minutes("b", 0, 1)
    trace = extrasensory.read(write_text(tmp_path / "phones.csv", HEADER + text), **PACIFIC)
    assert trace.state[0].tolist() == [OFFLINE, ONLINE]
    assert trace.counts["records with another state than one at the same time"] == 1


def test_what_is_recorded_after_the_last_slot_is_counted(tmp_path):
    path = write_text(tmp_path / "phones.csv", HEADER + minutes("a", 300, 100))
    assert extrasensory.read(path, **PACIFIC).counts["records after the last slot"] == 40


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,timestamp,charging\n", "line 1: no column 'wifi'; expected user,timestamp,charging,wifi"),
        ("", "line 1: no column 'user'"),
        (HEADER + minutes("a", 0, 3) + "a,later,1,0,1,0,1\n", "line 5: timestamp: 'later' is not a finite number"),
        (HEADER + "\n" + "a,nan,1,0,1,0,1\n", "line 3: timestamp: 'nan'"),
        (HEADER + "a,5,2,0,1,0,1\n", "line 2: charging: '2' is not 1, 0 or empty"),
        (HEADER + "a,5,1,2,1,0,1\n", "line 2: battery_missing: '2' is not 1, 0 or empty"),
        (HEADER + "a,5,1,0\n", "line 2: 4 fields; expected 7, as in line 1"),
        (HEADER + minutes("a", 0, 1) + minutes(" ", 0, 1), "line 3: user: the name is missing"),
        (HEADER + minutes("NaN", 0, 1), "line 2: user: the name is missing"),
        (
            HEADER + minutes("a", 5, 2) + minutes("a", 0, 1),
            "line 4: user a: time goes back from 1444028760 to 1444028400",
        ),
        (HEADER + 'a,5,1,0,1,0,"\n' + "x" * 200_000, "not readable as CSV"),
        (HEADER + "a,1444028400000,1,0,1,0,1\n", "user a: timestamp 1444028400000 is not a time in seconds"),
    ],
)
def test_a_row_that_cannot_be_used_is_refused_by_its_line(tmp_path, text, message):
    with pytest.raises(DataError, match=rf"phones\.csv: {message}"):
        extrasensory.read(write_text(tmp_path / "phones.csv", text), **PACIFIC)


def test_damaged_and_absent_tables_are_refused(tmp_path):
    path = write_text(tmp_path / "cut.csv.gz", HEADER + minutes("a", 0, 500), packed=True)
    path.write_bytes(path.read_bytes()[:-30])
    write_text(tmp_path / "latin.csv", HEADER).write_bytes(b"user,timestamp,charging,wifi\n\xff\n")
    for name, message in (("cut.csv.gz", "not readable"), ("latin.csv", "not readable"), ("absent", "no such file")):
        with pytest.raises(DataError, match=f"{name}: {message}"):
            extrasensory.read(tmp_path / name, **PACIFIC)


def test_a_time_zone_that_does_not_exist_is_named(tmp_path):
    path = write_text(tmp_path / "phones.csv", HEADER + minutes("a", 0, 3))
    for zone in ("America/San_Diego", "../etc/passwd", ""):
        with pytest.raises(InputError, match=f"trace.time_zone: '{zone}' is not a time zone"):
            extrasensory.read(path, **PACIFIC | {"time_zone": zone})
