"""Records in memory: compiled code reads, field by field, what Python put there; each against a NumPy twin."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest


class Everything(NamedTuple):
    """One field of each kind."""

    count: int
    flag: bool
    number: float
    values: Any
    places: Any
    inner: int


class Pair(NamedTuple):
    """A record that another points to."""

    left: float
    right: Any


class Tools(NamedTuple):
    """Record types and compiled functions that read them."""

    everything: Any
    pair: Any
    read: Any
    through: Any
    write: Any
    filled: Any


@pytest.fixture(scope="module")
def tools():
    from numba import types

    from shallows.support.compiling import entry
    from shallows.support.in_memory import at, in_memory

    whole, number, flag = types.int64, types.float64, types.boolean
    floats, counts = types.CPointer(number), types.CPointer(whole)
    everything = in_memory(Everything, whole, flag, number, floats, counts, whole)
    pair = in_memory(Pair, number, floats)
    everything_at, pair_at = at(everything), at(pair)

    @entry(types.void(whole, number[::1]))
    def read(address, out):
        """count, flag, number, Σ values, Σ places over the first `count`."""
        record = everything_at(address)
        out[0], out[1], out[2], out[3], out[4] = record.count, record.flag, record.number, 0.0, 0.0
        for i in range(record.count):
            out[3] += record.values[i]
            out[4] += record.places[i]

    @entry(number(whole, whole))
    def through(address, place):
        """left + right[place] of the record that the record points to."""
        pair = pair_at(everything_at(address).inner)
        return pair.left + pair.right[place]

    @entry(types.void(whole, number))
    def write(address, factor):
        record = everything_at(address)
        for i in range(record.count):
            record.values[i] *= factor
            record.places[i] += 1

    @entry(types.void(whole, whole))
    def filled(address, size):
        record = everything_at(address)
        for i in range(size):
            record.values[i], record.places[i] = i + 0.5, -i

    return Tools(everything, pair, read, through, write, filled)


def _held(tools, values, places, flag=True, number=0.5, inner=0):
    from shallows.support.in_memory import Held

    return Held(tools.everything, Everything(len(values), flag, number, values, places, inner))


def _read(tools, record):
    out = np.full(5, np.nan)
    tools.read(record.address, out)
    return out


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 100_000])
def test_all_fields_are_read(tools, rng, size):
    values, places = rng.integers(-99, 99, size) / 4, rng.integers(-(2**40), 2**40, size)
    for flag, number in ((True, -0.25), (False, 1e300), (np.True_, np.nan), (np.False_, -np.inf)):
        expected = [size, flag, number, values.sum(), places.sum()]
        assert np.array_equal(
            _read(tools, _held(tools, values, places, flag, number)), expected, equal_nan=True
        )


@pytest.mark.parametrize("count", [2**31, 2**53 + 1, -(2**63), 2**63 - 1])
def test_whole_numbers_keep_all_their_digits(tools, count):
    from shallows.support.in_memory import Held

    record = Held(tools.everything, Everything(0, True, 0.0, np.zeros(0), np.zeros(0, np.int64), count))
    assert record._words[5] == count


def test_numbers_keep_all_their_bits(tools):
    for number in (-0.0, 5e-324, np.nextafter(1.0, 2.0), 1.7976931348623157e308):
        out = _read(tools, _held(tools, np.zeros(0), np.zeros(0, np.int64), number=number))
        assert out[2:3].tobytes() == np.float64(number).tobytes()


def test_arrays_are_pointed_to_and_not_copied(tools, rng):
    values, places = rng.standard_normal(20), np.arange(20)
    before, record = values.copy(), _held(tools, values, places)
    tools.write(record.address, 3.0)
    assert np.array_equal(values, 3.0 * before) and np.array_equal(places, np.arange(1, 21))
    values[:], places[:] = 1.0, 2
    assert np.array_equal(_read(tools, record)[3:], [20.0, 40.0])


def test_parts_and_several_dimensions(tools, rng):
    """What lies row after row is taken from its first entry, wherever that is."""
    table, counts = rng.integers(0, 9, (6, 5)).astype(float), np.arange(30).reshape(6, 5)
    out = _read(tools, _held(tools, table[2:5].ravel(), counts[2:5].ravel()))
    assert np.array_equal(out[3:], [table[2:5].sum(), counts[2:5].sum()])
    from shallows.support.in_memory import Held

    whole = Held(tools.everything, Everything(15, True, 0.0, table[2:5], counts[2:5], 0))
    assert np.array_equal(_read(tools, whole), [15, 1, 0, table[2:5].sum(), counts[2:5].sum()])


def test_arrays_that_may_not_be_written_are_taken(tools):
    values = np.arange(4.0)
    values.setflags(write=False)
    assert _read(tools, _held(tools, values, np.arange(4)))[3] == 6.0


@pytest.mark.parametrize(
    ("values", "places", "name"),
    [
        (np.zeros(8)[::2], np.zeros(4, np.int64), "values"),
        (np.zeros(4)[::-1], np.zeros(4, np.int64), "values"),
        (np.zeros((3, 2)).T, np.zeros(4, np.int64), "values"),
        (np.zeros(4, np.float32), np.zeros(4, np.int64), "values"),
        (np.zeros(4, np.int64), np.zeros(4, np.int64), "values"),
        (np.zeros(4, complex), np.zeros(4, np.int64), "values"),
        (np.zeros(4, ">f8"), np.zeros(4, np.int64), "values"),
        (np.zeros(4), np.zeros(8, np.int64)[::2], "places"),
        (np.zeros(4), np.zeros(4, np.int32), "places"),
        (np.zeros(4), np.zeros(4, np.uint64), "places"),
        (np.zeros(4), np.zeros(4), "places"),
    ],
)
def test_arrays_of_another_kind_or_order_are_refused(tools, values, places, name):
    with pytest.raises(TypeError, match=f"{name} is .* expected contiguous"):
        _held(tools, values, places)


def test_as_many_values_as_fields(tools):
    from shallows.support.in_memory import Held, Room, in_memory

    with pytest.raises(ValueError):
        Held(tools.everything, (1, True))
    with pytest.raises(ValueError):
        Room(tools.pair, 3)
    with pytest.raises(ValueError):
        in_memory(Pair, *tools.everything.fields.values())


def test_a_record_keeps_its_arrays_alive(tools):
    """Nothing else holds them: were they gone, others would take their memory."""
    records = [_held(tools, np.full(1000, float(i)), np.full(1000, i)) for i in range(50)]
    assert all(
        np.array_equal(_read(tools, record)[3:], [1000 * i, 1000 * i]) for i, record in enumerate(records)
    )


def test_a_record_in_a_record(tools, rng):
    from shallows.support.in_memory import Held

    right = rng.standard_normal(5)
    pair = Held(tools.pair, Pair(2.5, right))
    record = _held(tools, np.zeros(0), np.zeros(0, np.int64), inner=pair.address)
    assert [tools.through(record.address, i) for i in range(5)] == (2.5 + right).tolist()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 5000])
def test_rooms_begin_at_zero_at_a_line_of_the_cache(tools, size):
    from shallows.support.cache_lines import LINE
    from shallows.support.in_memory import Room

    room = Room(tools.everything, size, 1, 0, size, size + 3, 0)
    values, places = room.array("values"), room.array("places")
    assert (values.dtype, values.shape, places.dtype, places.shape) == (
        np.float64,
        (size,),
        np.int64,
        (size + 3,),
    )
    assert not values.any() and not places.any() and not np.shares_memory(values, places)
    addresses = [room.address, values.ctypes.data, places.ctypes.data]
    assert all(address % LINE == 0 for address in addresses[: 1 if size == 0 else 3])
    assert np.array_equal(_read(tools, room), [size, 1, 0, 0, 0])


@pytest.mark.parametrize("size", [1, 7, 8, 9, 5000])
def test_what_compiled_code_writes_into_a_room_stays_in_its_array(tools, size):
    from shallows.support.in_memory import Room

    room, other = (
        Room(tools.everything, size, 1, 0, size, size, 0),
        Room(tools.everything, size, 1, 0, size, size, 0),
    )
    tools.filled(room.address, size)
    assert np.array_equal(room.array("values"), np.arange(size) + 0.5)
    assert np.array_equal(room.array("places"), -np.arange(size))
    assert not other.array("values").any() and not other.array("places").any()
    room.array("values")[:] = 2.0
    assert _read(tools, room)[3] == 2.0 * size


def test_a_room_has_no_array_where_it_has_a_number(tools):
    from shallows.support.in_memory import Room

    with pytest.raises(ValueError):
        Room(tools.pair, 0, 3).array("middle")


def test_types_are_told_apart_by_all_their_fields():
    from numba import types

    from shallows.support.in_memory import in_memory

    floats, counts = types.CPointer(types.float64), types.CPointer(types.int64)
    one, same, other = (in_memory(Pair, types.float64, kind) for kind in (floats, floats, counts))
    assert one == same and one != other and list(one.__recipe__()) != list(other.__recipe__())


@pytest.mark.parametrize("remake", [pickle.dumps, copy.copy, copy.deepcopy])
def test_addresses_do_not_leave_their_process(tools, remake):
    from shallows.support.in_memory import Room

    for record in (_held(tools, np.zeros(1), np.zeros(1, np.int64)), Room(tools.pair, 0, 3)):
        with pytest.raises(TypeError, match="its own process only"):
            remake(record)
