"""Traces made to do harm: files that unpack or unfold to far more than they are. They are refused, in little memory."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import sys
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outagefl.errors import DataError, InputError
from outagefl.inputs.traces import Trace
from outagefl.traces import custom, extrasensory, fedscale, flash_events, flash_matrix, slots, tables

Reader = Callable[[Path], Trace]

MEMORY = 50 << 20  # bytes; what the files here unpack to is more, by far for most of them


def hours(read: Callable[..., Trace], **options: Any) -> Reader:
    return lambda source: read(source, slot_minutes=60, **options)


READERS: dict[str, Reader] = {
    "custom": hours(custom.read, days=0.5),
    "extrasensory": hours(extrasensory.read, days=0.5, longest_gap_minutes=90, time_zone="UTC"),
    "fedscale": hours(fedscale.read),
    "flash_events": hours(
        flash_events.read, days=0.5, idle="screen_off", start="2020-01-29", clock_tolerance_seconds=0
    ),
    "flash_matrix": flash_matrix.read,
}


def refused(kind: str, source: Path, message: str) -> None:
    """Reading fails in one line that names the source, before it takes much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=message) as caught:
            READERS[kind](source)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(str(source))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", READERS)
def test_a_folder_or_nothing_in_the_place_of_a_trace_is_told(tmp_path, kind):
    refused(kind, tmp_path, "a folder; expected a file$")
    refused(kind, tmp_path / "absent", "no such file$")


# --- tables ----------------------------------------------------------------------------------------------------------

HEADER = {"custom": b"device,start,end,note\n", "extrasensory": b"user,timestamp,charging,wifi\n"}


@pytest.mark.parametrize(("kind", "pack"), [("custom", bytes), ("extrasensory", gzip.compress)])
@pytest.mark.parametrize("head", [True, False], ids=["after the header", "as the header"])
@pytest.mark.parametrize(
    "row",
    [b"x" * (8 << 20), b"x," * (4 << 20), (b'"%s\n",' % (b"x" * 1000)) * (8 << 10)],
    ids=["one field", "many fields", "many fields over many lines"],
)
def test_an_endless_row_is_not_read_to_its_end(tmp_path, kind, pack, head, row):
    source = written(tmp_path / "t.csv", pack(head * HEADER[kind] + row))
    refused(kind, source, r"t\.csv: not readable as CSV \(a row of more than 1048576 characters\)")


@pytest.mark.parametrize("kind", HEADER)
def test_a_table_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, kind):
    row = {"custom": b"a,0,1,%s\n", "extrasensory": b"a,%s,1,1\n"}[kind] % (b"0" * 100_000)
    source = written(tmp_path / "t.csv.gz", gzip.compress(HEADER[kind] + row * 200))
    assert source.stat().st_size < 200 * len(row) / 100
    refused(kind, source, r"it unpacks to more than 16777216 characters, too many for its size")


def rows_of_devices(*devices: int) -> dict[str, tuple[str, bytes]]:
    """Hours of these devices, in every form that lists them one by one."""
    packed = io.BytesIO()
    np.savez(packed, device=devices, start=np.zeros(len(devices)), end=np.ones(len(devices)))
    return {
        "csv": ("custom", HEADER["custom"] + b"".join(b"%d,0,1,\n" % device for device in devices)),
        "npz": ("custom", packed.getvalue()),
        "extrasensory": ("extrasensory", HEADER["extrasensory"] + b"".join(b"%d,0,1,1\n" % d for d in devices)),
    }


@pytest.mark.parametrize("form", ["csv", "npz", "extrasensory"])
def test_too_many_rows_or_devices_are_refused_by_their_place(tmp_path, monkeypatch, form):
    monkeypatch.setattr(tables, "MOST_ROWS", 4)
    monkeypatch.setattr(tables, "MOST_DEVICES", 2)
    kind, content = rows_of_devices(1, 2, 1, 2)[form]
    assert READERS[kind](written(tmp_path / "a", content)).state.shape == (12, 2)
    for devices, what in (((1, 2, 1, 2, 1), "4 rows"), ((1, 2, 1, 3), "2 devices")):
        place = f"entry {len(devices) - 1}" if form == "npz" else f"line {len(devices) + 1}"
        refused(kind, written(tmp_path / "b", rows_of_devices(*devices)[form][1]), f"{place}: more than {what}$")


# --- arrays ----------------------------------------------------------------------------------------------------------


def promising(array: np.ndarray, shape: tuple[int, ...]) -> bytes:
    """An array file whose header says another shape."""
    buffer = io.BytesIO()
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + array.tobytes()


@pytest.mark.parametrize("shape", [(241, 2), (241, 10**12), (10**12, 241)])
def test_a_matrix_that_promises_more_than_it_holds_is_refused(tmp_path, shape):
    source = written(tmp_path / "m.npy", promising(np.zeros((241, 1)), shape))
    refused("flash_matrix", source, r"not a sound array file: its header says \d+ bytes .* it holds 1928$")


def test_arrays_that_promise_more_than_they_hold_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as file:
        for name in ("device", "start", "end"):
            file.writestr(f"{name}.npy", promising(np.zeros(3), (10**12,)))
    refused("custom", tmp_path / "t.npz", r"device\.npy: not a sound array file: its header says 8000000000000 bytes")


def test_arrays_that_unpack_to_far_more_than_their_size_are_refused(tmp_path):
    zeros = np.zeros(1 << 20)
    np.savez_compressed(tmp_path / "t.npz", device=zeros, start=zeros, end=zeros)
    refused("custom", tmp_path / "t.npz", "unpacks to more than 16777216 bytes, too many for its size")


def archived(path: Path, **members: bytes) -> Path:
    """An ``.npz`` file that is sound but for what its members hold."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def array_file(values: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("code", [sys.maxunicode + 1, 0xFFFFFFFF])
def test_names_of_numbers_that_are_no_characters_are_refused(tmp_path, order, code):
    names = np.array([[65, 66], [67, code]], f"{order}u4").view(f"{order}U2").ravel()
    np.savez(tmp_path / "t.npz", device=names, start=[0, 0], end=[1, 1])
    refused("custom", tmp_path / "t.npz", f"device: {code:#x} is not a character; expected at most 0x10ffff")


@pytest.mark.parametrize("devices", [["a", "b"], [1, 2], [1.5, 2.5]], ids=["text", "whole", "float"])
def test_damage_in_an_array_is_refused_or_read_whatever_it_is(tmp_path, devices):
    """Bytes of the arrays' files are changed, in a sound archive; what cannot be used is a DataError, never another."""
    rng = np.random.default_rng(7)
    whole = {"device": array_file(devices), "start": array_file([0.0, 5.0]), "end": array_file([9.0, 9.0])}
    messages = set()
    for _ in range(150):
        name = str(rng.choice(list(whole)))
        changed = bytearray(whole[name])
        for place in rng.integers(len(changed), size=rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        source = archived(tmp_path / "t.npz", **whole | {name: bytes(changed)})
        try:
            assert READERS["custom"](source).state.shape[0] == 12
        except DataError as error:
            messages.add(str(error))
    assert len(messages) > 10


# --- events ----------------------------------------------------------------------------------------------------------

BLANKS = {"tabs": "\t", "blanks": " ", "both": " \t", "breaks": "\r\x0b\x0c", "wide": "\u2003"}


@pytest.mark.parametrize("line", ["2020-01-29 00:00:00{}a b", "{}a b", "2020-01-29{}00:00:00\twifi", "{}"])
@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS)
def test_a_line_takes_no_longer_than_it_is_long(tmp_path, line, blank):
    text = line.format(blank * (400_000 // len(blank)))
    source = written(tmp_path / "t.json", json.dumps({"1": {"messages": text}}).encode())
    began = time.perf_counter()
    assert READERS["flash_events"](source).counts["malformed lines"] == (1 if text.strip() else 0)
    assert time.perf_counter() - began < 1  # a search that goes back and forth took minutes


# --- pickles ---------------------------------------------------------------------------------------------------------


def nested(depth: int) -> list[Any]:
    """A list of ten times the same list of ten times the same …, which a pickle holds once."""
    return [0] * 10 if depth == 1 else [nested(depth - 1)] * 10


def write_clients(path: Path, clients: Any) -> Path:
    return written(path, pickle.dumps(clients))


@pytest.mark.parametrize("key", ["active", "inactive", "finish_time"])
def test_lists_that_unfold_are_refused(tmp_path, key):
    client = {"active": [0], "inactive": [1], "finish_time": 5} | {key: nested(12)}
    source = write_clients(tmp_path / "t", {7: client})
    assert source.stat().st_size < 1000
    refused("fedscale", source, f"client 7: {key}: .*(expected a list of numbers|list is not a number above 0)")


def test_lists_that_many_clients_share_are_refused(tmp_path):
    times = list(range(1000))
    clients = {n: {"active": times, "inactive": times, "finish_time": 5} for n in range(1000)}
    refused(
        "fedscale", write_clients(tmp_path / "t", clients), r"client \d+: more than \d+ numbers up to here, in a file"
    )


@pytest.mark.parametrize("name", [b"7", 10**5000], ids=["bytes", "too long a number"])
def test_a_client_whose_name_cannot_be_shown_is_refused(tmp_path, name):
    clients = {name: {"active": [0], "inactive": [1], "finish_time": 5}}
    refused("fedscale", write_clients(tmp_path / "t", clients), "a client is called by a (bytes|int); expected")


@pytest.mark.parametrize(
    "content",
    [
        b"K\x01r" + (1 << 24).to_bytes(4, "little") + b".",  # kept in a far place of the memory for objects
        b"\x96" + (1 << 27).to_bytes(8, "little") + b".",  # a bytearray
        b"\x8e" + (1 << 27).to_bytes(8, "little") + b".",  # bytes
        b"\x8d" + (1 << 27).to_bytes(8, "little") + b".",  # text
        b"\x95" + (1 << 27).to_bytes(8, "little") + b".",  # a frame
    ],
    ids=["memo", "bytearray", "bytes", "text", "frame"],
)
def test_a_pickle_that_promises_more_than_it_holds_is_refused(tmp_path, content):
    refused("fedscale", written(tmp_path / "t", b"\x80\x05" + content), "expected a dict|not a pickle of plain data: ")


# --- grids -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["custom", "extrasensory", "fedscale", "flash_events"])
def test_too_many_states_are_refused_before_they_are_made(tmp_path, monkeypatch, kind):
    client = {"active": [0], "inactive": [1], "finish_time": 43_200}
    sources = {
        "custom": rows_of_devices(1, 2)["csv"][1],
        "extrasensory": rows_of_devices(1, 2)["extrasensory"][1],
        "fedscale": pickle.dumps({1: client, 2: client}),
        "flash_events": b'{"1": {"messages": ""}, "2": {"messages": ""}}',
    }
    source = written(tmp_path / "t", sources[kind])
    monkeypatch.setattr(slots, "MOST_STATES", 24)
    assert READERS[kind](source).state.shape == (12, 2)
    monkeypatch.setattr(slots, "MOST_STATES", 23)
    with pytest.raises(InputError, match=r"^trace\.slot_minutes: 12 slots of 2 devices are 24 states; at most 23"):
        READERS[kind](source)


def test_the_limits_let_the_published_traces_pass():
    assert slots.MOST_STATES >= 107_749 * 6 * 24 * 60  # FedScale by the minute
    assert tables.MOST_DEVICES >= 107_749
