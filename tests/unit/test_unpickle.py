"""Pickles: plain data and arrays are read, everything else is refused, however it is forged."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from outagefl.sources import unpickle
from tests.unit.archives import complaint, python2_pickle


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_any_bytes_are_a_pickle_or_a_data_error(content):
    message = complaint(unpickle.load, content, "x")
    assert message is None or message.startswith("x: not a pickle of plain data and arrays")


@pytest.mark.parametrize("protocol", range(6))
def test_plain_data_is_unpickled(protocol):
    content = {"a": [1, 2.5, None, True, ("x", 2**70)], 3: {"b": {}}}
    assert unpickle.load(pickle.dumps(content, protocol), "x") == content


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("dtype", ["u1", "<i8", ">f4", "?"])
def test_arrays_are_unpickled(protocol, dtype):
    arrays = [np.arange(6).reshape(2, 3).astype(dtype), np.asfortranarray(np.ones((2, 3), dtype)), np.zeros(0, dtype)]
    found = unpickle.load(python2_pickle(arrays) if protocol == 2 else pickle.dumps(arrays, protocol), "x")
    for array, original in zip(found, arrays, strict=True):
        assert_array_equal(array, original)
        assert array.dtype == original.dtype


# --- forged arrays, written by hand: NumPy believes them, and ends the process or fills the memory -------------------


def number(value: int) -> bytes:
    return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)


def text(content: bytes) -> bytes:
    return b"U" + bytes([len(content)]) + content


def dtype(name: bytes, state: bytes = b"(K\x03U\x01|NNNK\x00K\x00K\x00t") -> bytes:
    return b"cnumpy\ndtype\n(" + text(name) + b"K\x00K\x01tR" + state + b"b"


def empty(length: int = 0) -> bytes:
    return b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(" + number(length) + b"tU\x01btR"


def array(kind: bytes = dtype(b"u1"), length: int = 8, content: bytes = text(b"AAAAAAAA")) -> bytes:
    return empty() + b"(K\x01(" + number(length) + b"t" + kind + b"\x89" + content + b"tb"


FIELDS = b"(K\x03U\x01|N(U\x01at}U\x01a(" + dtype(b"O8") + b"K\x00tsK\x08K\x01K\x00t"


def test_arrays_written_by_hand_are_read():
    assert unpickle.load(b"\x80\x02" + array() + b".", "x").tolist() == [65] * 8


@pytest.mark.parametrize(
    "forged",
    [
        array(dtype(b"O8"), 1),
        array(dtype(b"V8", FIELDS), 1),
        array(dtype(b"u1", FIELDS), 1),
        array(dtype(b"S8"), 1),
        array(text(b"u1")),
        array(empty()),
        array(length=7),
        array(length=1 << 40),
        array(length=-8),
        array(content=b"N"),
        array(content=array()),
        array(content=b"](" + b"K\x00" * 8 + b"e"),
        array() + b"(K\x01)tb",
        b"cnumpy\nndarray\n(K\x08tR",
        b"cnumpy\nndarray\n(K\x08t\x81",
        b"cnumpy\ndtype\n}U\x05builtNsb",
        b"cnumpy\ndtype\nN}U\x05builtNs\x86b",
    ],
)
def test_a_forged_array_is_refused(forged):
    assert str(complaint(unpickle.load, b"\x80\x02" + forged + b".", "x")).startswith("x: not a pickle of plain data")


def test_an_array_without_content_takes_no_memory():
    tracemalloc.start()
    try:
        found = unpickle.load(b"\x80\x02" + empty(600_000_000) + b".", "x")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert not isinstance(found, np.ndarray)


# --- keys ------------------------------------------------------------------------------------------------------------

DEEP = b")" + b"\x85" * 200_000  # a tuple in a tuple in …: to hash it takes more stack than there is


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"}" + DEEP + b"Ns.", "a key is a tuple"),
        (b"}(" + DEEP + b"Nu.", "a key is a tuple"),
        (b"}(K\x01N" + DEEP + b"Nu.", "a key is a tuple"),
        (b"(" + DEEP + b"Nd.", "a key is a tuple"),
        (b"\x8f(" + DEEP + b"\x90.", "it asks for a set"),
        (b"(" + DEEP + b"\x91.", "it asks for a frozenset"),
    ],
    ids=["item", "items", "later item", "dict", "set", "frozenset"],
)
@pytest.mark.parametrize("allowed", [unpickle.ARRAYS, {}], ids=["arrays", "plain"])
def test_only_plain_keys_are_taken(content, message, allowed):
    assert f": {message}, which is refused" in str(complaint(unpickle.load, b"\x80\x04" + content, "x", allowed))
