"""A trace of one's own, as a table or as arrays, whole and broken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outagefl.errors import DataError
from outagefl.traces import custom
from tests.unit.trace_files import write_text

HOURS = {"slot_minutes": 60, "days": 0.5}


def write_intervals(path, rows, as_npz):
    if as_npz:
        device, start, end = zip(*rows, strict=True)
        np.savez(path, device=np.array(device), start=np.array(start), end=np.array(end))
        return path.with_suffix(".npz")
    return write_text(path, "device,start,end\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))


@pytest.mark.parametrize("as_npz", [False, True])
def test_intervals_become_slots(tmp_path, as_npz):
    rows = [("phone-2", 7200, 14_400), ("phone-1", 0, 3600), ("phone-1", 1800, 7201), ("spare", 5, 5)]
    trace = custom.read(write_intervals(tmp_path / "mine", rows, as_npz), **HOURS)
    assert trace.state.T.tolist() == [[1, 1, 1] + [0] * 9, [0, 0, 1, 1] + [0] * 8, [0] * 12]
    assert trace.counts == {"intervals": 4, "overlapping intervals": 1}


INTERVALS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 43_200), st.integers(0, 43_200)), min_size=1)


@given(INTERVALS, st.booleans())
def test_a_device_is_online_in_the_union_of_its_intervals(tmp_path_factory, drawn, as_npz):
    rows = [(device, *sorted(times)) for device, *times in drawn]
    state = custom.read(write_intervals(tmp_path_factory.mktemp("own") / "mine", rows, as_npz), **HOURS).state
    for column, device in enumerate(sorted({device for device, _, _ in rows})):
        for slot in range(12):
            assert state[slot, column] == any(a <= slot * 3600 < b for name, a, b in rows if name == device)


@pytest.mark.parametrize("as_npz", [False, True])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a", 5, 4), "start 5, end 4; expected 0 <= start <= end <= 43200"),
        (("a", -1, 4), "start -1, end 4; expected 0 <="),
        (("a", 0, 43_201), r"start 0, end 43201; expected .* <= 43200 \(trace.days: 0.5\)"),
        (("a", 0, float("nan")), "(start 0, )?end"),
        (("a", float("inf"), float("inf")), "start"),
        (("", 0, 1), "device: the name is missing"),
    ],
)
def test_an_interval_that_cannot_be_used_is_refused_by_its_place(tmp_path, as_npz, row, message):
    path = write_intervals(tmp_path / "mine", [("a", 0, 1), ("a", 0, 1), row], as_npz)
    with pytest.raises(DataError, match=rf"mine\S*: {'entry 2' if as_npz else 'line 4'}: {message}"):
        custom.read(path, **HOURS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("device,start\na,1\n", "line 1: no column 'end'; expected device,start,end"),
        ("a,0,5\n", "line 1: no column 'device'"),
        ("device,start,end,start\na,0,5,7\n", "line 1: 2 columns 'start'; expected one"),
        ("device,start,end\na,0\n", "line 2: 2 fields; expected 3, as in line 1"),
        ("device,start,end\n\na,0,5,7\n", "line 3: 4 fields; expected 3, as in line 1"),
        ("device,start,end\na,,5\n", "line 2: start: '' is not a finite number"),
        ("device,start,end\na,0,3_600\n", "line 2: end: '3_600' is not a finite number"),
        ("device,start,end\na,0,\uff15\n", "line 2: end: '\uff15' is not a finite number"),
        ("device,start,end\nnan,0,5\n", "line 2: device: the name is missing"),
        ("device,start,end\na,noon,5\n", "line 2: start: 'noon' is not a finite number"),
    ],
)
def test_a_table_of_another_form_is_refused(tmp_path, text, message):
    with pytest.raises(DataError, match=rf"mine\.csv: {message}"):
        custom.read(write_text(tmp_path / "mine.csv", text), **HOURS)


@pytest.mark.parametrize("as_npz", [False, True])
def test_blanks_around_a_name_make_no_other_device(tmp_path, as_npz):
    path = write_intervals(tmp_path / "mine", [("a", 0, 3600), (" a", 3600, 7200), ("a\t", 7200, 10_800)], as_npz)
    assert custom.read(path, **HOURS).state.T.tolist() == [[1, 1, 1] + [0] * 9]


def test_blanks_around_columns_and_empty_columns_at_the_end_do_no_harm(tmp_path):
    path = write_text(tmp_path / "mine.csv", "device , start, end,,\na , 0, 3600,,\n")
    assert custom.read(path, **HOURS).state[:, 0].tolist() == [1] + [0] * 11


def test_devices_without_a_name_among_numbers_are_refused(tmp_path):
    path = write_intervals(tmp_path / "mine", [(1.0, 0, 3600), (float("nan"), 0, 3600)], as_npz=True)
    with pytest.raises(DataError, match=r"mine\.npz: entry 1: device: the name is missing"):
        custom.read(path, **HOURS)


def test_a_table_that_begins_like_an_archive_is_a_table(tmp_path):
    path = write_text(tmp_path / "mine.csv", "PK,device,start,end\n1,a,0,3600\n")
    assert custom.read(path, **HOURS).state[:, 0].tolist() == [1] + [0] * 11


def test_columns_beyond_those_needed_and_a_byte_order_mark_do_no_harm(tmp_path):
    path = write_text(tmp_path / "mine.csv", "\ufeffnote,end,device,start\nx,3600,a,0\n\n")
    assert custom.read(path, **HOURS).state[:, 0].tolist() == [1] + [0] * 11


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"device": ["a"], "start": [0]}, "lacks end.npy"),
        ({"device": ["a"], "start": [0], "end": [1, 2]}, "expected three one-dimensional arrays"),
        ({"device": ["a"], "start": ["0"], "end": ["1"]}, "expected three"),
        ({"device": [["a"]], "start": [[0]], "end": [[1]]}, "expected three"),
        ({"device": [True], "start": [0], "end": [1]}, "expected three"),
        ({"device": np.array([{}], object), "start": [0], "end": [1]}, "device.npy: .* it holds Python objects"),
    ],
)
def test_arrays_of_another_form_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "mine.npz", **arrays)
    with pytest.raises(DataError, match=rf"mine\.npz: {message}"):
        custom.read(tmp_path / "mine.npz", **HOURS)
