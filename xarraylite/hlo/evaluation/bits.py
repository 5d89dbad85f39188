"""Bits of numbers: total order, reduced precision, the same bits as other types.

And random ones, by the generators that XLA names, bit for bit.  Both encrypt a counter under a key,
after Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (2011).  A state is a key of
64 bits and a counter, of 64 bits for ThreeFry-2x32 (20 rounds) and of 128 for Philox-4x32 (10
rounds).  XLA fixes how words become elements: ThreeFry counts over half the shape and interleaves
the two words along one dimension, the first even one or else the longest; Philox fills the array
with its four words in turn.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...dtypes.element_types import element_type
from ...dtypes.info import finfo, mantissa_bits
from ...dtypes.names import NumpyArray
from ..instruction import HloInstruction
from ..opcodes import by_opcode
from ..text.made_up import narrowed
from .values import Evaluator, Runner, Value, array, container, dtype_of, refuse


def _raw(values: NumpyArray) -> NumpyArray:
    return np.ascontiguousarray(values).reshape(values.shape).view(f"u{values.itemsize}")


def total_order(values: NumpyArray) -> NumpyArray:
    """Return signed integers in the order of floats from -NaN to NaN, or integers as they are.

    Floats are a sign and a magnitude; negative ones are turned around.  Types without -0 write
    their one NaN in its place: its sign is negative, so it is before all numbers, as on CPUs.
    """
    name = values.dtype.name
    if values.dtype.kind in "iub" or "int" in name:
        return values.astype(np.uint8) if values.dtype.kind == "b" else values
    raw = _raw(values)
    if "e8m0" in name:
        return raw  # powers of two, without a sign
    unused = 8 * values.itemsize - finfo(values.dtype).bits
    signed = (raw << raw.dtype.type(unused)).view(f"i{values.itemsize}")
    turned = np.where(signed < 0, signed ^ np.iinfo(signed.dtype).max, signed)
    return np.where(signed == -128, np.int16(-129), turned) if "fnuz" in name else turned


def reduce_precision(values: NumpyArray, exponent: int, mantissa: int) -> NumpyArray:
    """Round floats to fewer bits of exponent and mantissa, ties to even, keeping their type.

    What is too large becomes infinite, what is too small for the exponent zero; NaNs stay, and so
    do subnormals where the exponent is as long as theirs.  Floats of a byte become float16 for it.
    """
    if values.dtype.itemsize == 1:
        wide = values.astype(np.float32 if "e8m0" in values.dtype.name else np.float16)
        return reduce_precision(wide, exponent, mantissa).astype(values.dtype)
    width = 8 * values.itemsize
    have = mantissa_bits(values.dtype)
    have_exponent = width - 1 - have
    bits = _raw(values)
    word: Any = bits.dtype.type
    drop = have - mantissa
    if drop > 0:
        last = (bits >> word(drop)) & word(1)
        bits = (bits + word((1 << (drop - 1)) - 1) + last) & ~word((1 << drop) - 1)
    if exponent < have_exponent:
        bias, narrow = (1 << (have_exponent - 1)) - 1, (1 << (exponent - 1)) - 1
        field = (bits >> word(have)) & word((1 << have_exponent) - 1)
        sign = bits & word(1 << (width - 1))
        infinite = word(((1 << have_exponent) - 1) << have)
        bits = np.where(field > bias + narrow, sign | infinite, bits)
        bits = np.where(field <= bias - narrow, sign, bits)
    made: NumpyArray = np.asarray(bits, word).view(values.dtype)
    return np.where(np.isnan(values), values, made)


def stochastic_convert(values: NumpyArray, random: NumpyArray, target: np.dtype[Any]) -> NumpyArray:
    """Round to integers or shorter floats, up as often as the lost fraction is large."""
    digits = 8 * random.itemsize
    if target.kind not in "iu" and "int" not in target.name:
        # The lost bits plus random ones, zeros behind them, carry into those that stay.
        drop = 23 - (mantissa_bits(target) if target.itemsize < 4 else 23)
        bits = _raw(values.astype(np.float32))
        lost = (random >> random.dtype.type(max(digits - drop, 0))).astype(np.uint32)
        lost <<= np.uint32(max(drop - digits, 0))
        rounded = (bits + lost) & np.uint32(~((1 << drop) - 1) & 0xFFFFFFFF)
        return np.where(np.isfinite(values), rounded.view(np.float32), values).astype(target)
    limits = np.iinfo(target)
    wide = values.astype(np.float64)
    finite = np.abs(np.nan_to_num(wide, nan=0.0, posinf=0.0, neginf=0.0))
    whole = np.trunc(finite)
    up = random < np.floor(np.ldexp(finite - whole, digits))
    signed = np.copysign(whole + up, wide)
    inside = np.clip(signed, limits.min, limits.max)
    made = np.where(np.isnan(wide), 0, inside)
    made = np.where(wide >= limits.max, limits.max, np.where(wide <= limits.min, limits.min, made))
    return np.asarray(made).astype(target)


def bitcast_convert(
    values: NumpyArray, target: np.dtype[Any], bits: tuple[int, int], shape: tuple[int, ...]
) -> NumpyArray:
    """Return the same bits as elements of another type.

    Parameters
    ----------
    values : numpy.ndarray
        The elements; those of 2 and 4 bits have a byte each.
    target : numpy.dtype
        Type of the result.
    bits : tuple of int
        Bits of an element of the operand and of the result.
    shape : tuple of int
        Shape of the result: narrower elements have one dimension more, wider ones one fewer.
    """
    before, after = bits
    if min(before, after) >= 8:
        flat = np.ascontiguousarray(values).reshape(-1)
        return flat.view(target).reshape(shape)
    raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    shifts = np.array(range(0, min(max(bits), 8), min(bits)), np.uint8)
    mask = np.uint8((1 << min(bits)) - 1)
    if before <= after:
        parts = (raw & mask).reshape(-1, len(shifts)) << shifts
        raw = np.bitwise_or.reduce(parts, axis=1, dtype=np.uint8)
    else:
        raw = raw[:, None] >> shifts & mask
    made = raw.view(target)
    return (made if after >= 8 else narrowed(made, element_type(target))).reshape(shape)


_U32, _U64 = np.uint32, np.uint64
_ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY: Final = _U32(0x1BD11BDA)
_WEYL: Final = (0x9E3779B9, 0xBB67AE85)
_FACTORS: Final = (0xD2511F53, 0xCD9E8D57)
_MASK: Final = 0xFFFFFFFF


def _words(numbers: Any) -> list[NumpyArray]:
    """Lower and upper halves of 64-bit numbers."""
    wide = np.asarray(numbers, _U64)
    return [(wide & _U64(_MASK)).astype(_U32), (wide >> _U64(32)).astype(_U32)]


def _joined(low: NumpyArray, high: NumpyArray) -> NumpyArray:
    return low.astype(_U64) | (high.astype(_U64) << _U64(32))


def three_fry(key: int, counters: NumpyArray) -> list[NumpyArray]:
    """Encrypt counters of 64 bits; return two words for each."""
    first, second = _words(key)
    keys = (first, second, first ^ second ^ _PARITY)
    x, y = _words(counters)
    x, y = x + keys[0], y + keys[1]
    for group in range(5):
        for turn in _ROTATIONS[group % 2]:
            x = x + y
            y = ((y << _U32(turn)) | (y >> _U32(32 - turn))) ^ x
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + _U32(group + 1)
    return [x, y]


def philox(key: int, low: NumpyArray, high: NumpyArray) -> list[NumpyArray]:
    """Encrypt counters of 128 bits; return four words for each."""
    words = [*_words(low), *_words(high)]
    keys = [key & _MASK, key >> 32]
    for _ in range(10):
        products = [words[2 * k].astype(_U64) * _U64(factor) for k, factor in enumerate(_FACTORS)]
        (low0, high0), (low1, high1) = _words(products[0]), _words(products[1])
        words = [high1 ^ words[1] ^ _U32(keys[0]), low1, high0 ^ words[3] ^ _U32(keys[1]), low0]
        keys = [(k + step) & _MASK for k, step in zip(keys, _WEYL, strict=True)]
    return words


def _from_three_fry(
    state: list[int], shape: tuple[int, ...], bits: int
) -> tuple[NumpyArray, list[int]]:
    key, counter = state[0], state[1]
    if bits == 64:
        total = math.prod(shape)
        made = _joined(*three_fry(key, _counters(counter, total))).reshape(shape)
    elif not shape:
        total = 1
        made = three_fry(key, _counters(counter, 1))[0].reshape(())
    else:
        even = [axis for axis, size in enumerate(shape) if size % 2 == 0]
        axis = even[0] if even else shape.index(max(shape))
        half = tuple([-(-size // 2) if k == axis else size for k, size in enumerate(shape)])
        total = math.prod(half)
        words = [w.reshape(half) for w in three_fry(key, _counters(counter, total))]
        joined = np.stack(words, axis + 1)
        whole = joined.reshape([2 * size if k == axis else size for k, size in enumerate(half)])
        made = whole[tuple([slice(size) for size in shape])]
    return made, [key, (counter + total) % 2**64]


def _counters(start: int, count: int) -> NumpyArray:
    return np.arange(count, dtype=_U64) + _U64(start)


def _from_philox(
    state: list[int], shape: tuple[int, ...], bits: int
) -> tuple[NumpyArray, list[int]]:
    # A state of two numbers has the key for the upper half of its counter, and keeps the lower.
    key, low, high = state if len(state) > 2 else (*state, state[0])
    count = math.prod(shape)
    vectors = -(-count * (2 if bits == 64 else 1) // 4)
    lows = _counters(low, vectors)
    highs = np.asarray(high, _U64) + (lows < _U64(low)).astype(_U64)
    words = philox(key, lows, highs)
    columns = [_joined(*words[:2]), _joined(*words[2:])] if bits == 64 else words
    made = np.stack(columns, -1).reshape(-1)[:count].reshape(shape)
    counter = (high << 64 | low) + vectors
    return made, [key, counter % 2**64, (counter >> 64) % 2**64][: len(state)]


def _rng_bit_generator(run: Runner, instruction: HloInstruction, state: Value) -> Value:
    spec = instruction.shape.tuple_shapes[1]
    dtype = dtype_of(spec.element_type, instruction)
    bits = max(spec.element_type.bits, 8)
    given = array(state)
    raw = given if given.dtype == _U64 else np.ascontiguousarray(given).view(_U64)
    numbers = [int(number) for number in raw.reshape(-1)]
    algorithm = instruction.get("algorithm")
    if algorithm == "rng_three_fry":
        made, after = _from_three_fry(numbers, spec.dimensions, bits)
    elif algorithm in ("rng_philox", "rng_default"):
        made, after = _from_philox(numbers, spec.dimensions, bits)
    else:
        raise refuse(instruction, f"there is no generator {algorithm}")
    word = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[bits]
    values = bitcast_convert(made.astype(word), dtype, (bits, bits), spec.dimensions)
    following = np.array([*after, *numbers[len(after) :]], _U64).view(given.dtype)
    return container(following.reshape(given.shape)), container(values)


def _rng(run: Runner, instruction: HloInstruction, first: Value, second: Value) -> Value:
    """Numbers of a distribution; XLA does not say which."""
    shape = instruction.shape.dimensions
    dtype = dtype_of(instruction.shape.element_type, instruction)
    low, high = array(first), array(second)
    made: NumpyArray
    if instruction.get("distribution") == "rng_normal":
        made = run.random.normal(float(low), float(high), shape)
    elif dtype.kind in "iu":
        made = run.random.integers(int(low), int(high), shape)
    else:
        made = run.random.uniform(float(low), float(high), shape)
    return container(np.asarray(made).astype(dtype))


def _rng_get_and_update_state(run: Runner, instruction: HloInstruction) -> Value:
    """Return the runner's state of random numbers and step on."""
    delta = int(instruction.get("delta"))
    before = run.step_random(delta)
    words = np.array([before % 2**64, before >> 64], _U64)
    return container(words.astype(dtype_of(instruction.shape.element_type, instruction)))


#: Evaluators of operations that make random numbers.
RANDOM: Final[dict[str, Evaluator]] = by_opcode(_rng, _rng_bit_generator, _rng_get_and_update_state)
