"""Operands in tiled memory for tests, with garbage in their padding."""

from __future__ import annotations

from typing import Any

import numpy as np

import xarraylite as xl
from tests.layout.test_digits import naive
from xarraylite.layout.tiled import TiledMap

Array = np.ndarray[Any, np.dtype[Any]]

#: Layouts by rank: whole and partial tiles, interleaved rows, orders, combined dimensions, tails;
#: the last ones of ranks 1 and 2 are no loop nests.
LAYOUTS: dict[int, tuple[str, ...]] = {
    0: ("{:T(4)}", "{}"),
    1: ("{0:T(4)}", "{0:T(3)L(7)}", "{0:T(4)(2,1)}", "{0}"),
    2: (
        "{1,0}",
        "{0,1}",
        "{1,0:T(2,2)}",
        "{1,0:T(4,2)(2,1)}",
        "{0,1:T(2,3)}",
        "{1,0:T(3)}",
        "{1,0:T(*,3)L(16)}",
        "{1,0:T(2,2)(*,3)}",
    ),
    3: ("{2,1,0:T(2,3)}", "{0,2,1:T(2,2)(2,1)}", "{2,1,0:T(*,2,3)}", "{1,2,0:T(4)}"),
}


def padding_bits(container: Any) -> Array:
    """Return a mask of the buffer's bytes: the bits that belong to no element."""
    place = container.map
    if not isinstance(place, TiledMap):
        return np.zeros(container.buffer.nbytes, np.uint8)
    layout = place.layout
    ordinals = naive((place.dimensions, layout.minor_to_major, layout.tile_dims)).ravel()
    free = np.ones(8 * container.buffer.nbytes // place.bits, np.bool_)
    free[place.offset : place.offset + len(ordinals)] = ordinals < 0
    bits = np.ones(8 * container.buffer.nbytes, np.bool_)  # those of a broken byte at the end too
    bits[: len(free) * place.bits] = np.repeat(free, place.bits)
    return np.packbits(bits, bitorder="little")


def poisoned(values: Array, layout: str | xl.Layout) -> xl.XArray:
    """Return a container in a layout whose padding is all ones: NaN, -1, no bool."""
    made = xl.asarray(values, layout=layout)
    made.buffer.data[:] |= padding_bits(made)
    return made


def padding_of(container: Any) -> bytes:
    """Return what the padding holds, elements masked out."""
    masked: Array = container.buffer.data & padding_bits(container)
    return masked.tobytes()
