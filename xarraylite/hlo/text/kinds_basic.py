"""Kinds of attributes: numbers, words, strings, and lists of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from struct import pack, unpack
from typing import Any, Final, NamedTuple

from .scanner import NAME, STRING, escape, is_dictionary, outer_parts, unescape

_INT = re.compile(r"\s*(-?[0-9]{1,20})\s*")
_INTS = re.compile(r"\s*\{\s*((?:-?[0-9]{1,20}\s*,\s*)*-?[0-9]{1,20})?\s*\}\s*")
_ROW = re.compile(r"\{[^{}]*\}")
_QUOTED = re.compile(STRING, re.DOTALL)
_WORD = re.compile(rf"\s*({NAME})\s*")
_FLOAT = re.compile(r"\s*(?:-?[0-9]+\.?[0-9]*|-\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*|\s*-?nan\s*")


class Kind(NamedTuple):
    """How values of a kind are read and printed."""

    read: Callable[[str], Any]
    show: Callable[[Any], str]


def matched(pattern: re.Pattern[str], text: str, expected: str) -> re.Match[str]:
    """Return the match of a whole text, or say what was expected."""
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"expected {expected}")
    return match


def braced(show: Callable[[Any], str] = str, between: str = ",") -> Callable[[Iterable[Any]], str]:
    """Return what writes values between braces."""
    return lambda values: f"{{{between.join(map(show, values))}}}"


#: Write ``{1,0}``.
print_ints = braced()


def read_int(text: str) -> int:
    """Read an integer of 64 bits."""
    return bounded(matched(_INT, text, "an integer")[1])


def bounded(digits: str) -> int:
    """Return the integer that digits stand for, if 64 bits hold it."""
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**63:
        raise ValueError(f"{digits[:24]} is no integer of 64 bits")
    return int(digits)


def read_ints(text: str) -> tuple[int, ...]:
    """Read ``{1,0}``."""
    listed = matched(_INTS, text, "integers between braces, such as {1,0}")[1]
    return tuple([bounded(number) for number in listed.split(",")]) if listed else ()


def read_lists(text: str) -> tuple[tuple[int, ...], ...]:
    rows = read_rows(text, _ROW, "lists of integers, such as {{0,1},{2,3}}")
    return tuple([read_ints(row[0]) for row in rows])


def read_rows(text: str, row: re.Pattern[str], expected: str) -> list[re.Match[str]]:
    """Match what stands between braces, with commas in between."""
    return [matched(row, part.strip(), expected) for part in outer_parts(inside(text, "{}"))]


def _read_pairs(text: str) -> tuple[tuple[int, ...], ...]:
    pairs = read_lists(text)
    if any([len(pair) != 2 for pair in pairs]):
        raise ValueError("expected pairs, such as {{0,1},{1,0}}")
    return pairs


def _read_float32(text: str) -> float:
    """Read a number that XLA keeps in 32 bits."""
    number = read_float(text)
    if abs(number) > 3.4028235677973366e38:
        raise ValueError("expected a number of type f32")
    return unpack("f", pack("f", number))[0] if number == number else number


def inside(text: str, ends: str) -> str:
    stripped = text.strip()
    if len(stripped) < 2 or stripped[0] != ends[0] or stripped[-1] != ends[1]:
        raise ValueError(f"expected something between {ends[0]!r} and {ends[1]!r}")
    return stripped[1:-1]


def _read_bool(text: str) -> bool:
    word = text.strip()
    if word not in ("true", "false"):
        raise ValueError("expected true or false")
    return word == "true"


def _print_bool(value: bool) -> str:
    return "true" if value else "false"


def _listed(read: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    """Return what reads values between braces, with commas in between."""

    def read_all(text: str) -> tuple[Any, ...]:
        inner = inside(text, "{}")
        return tuple([read(word) for word in inner.split(",")]) if inner.strip() else ()

    return read_all


_read_flags = _listed(_read_bool)


def _read_bools(text: str) -> tuple[bool, ...]:
    """Read one boolean, or some between braces."""
    return _read_flags(text) if text.strip().startswith("{") else (_read_bool(text),)


def read_float(text: str) -> float:
    return float(matched(_FLOAT, text, "a number")[0])


def print_float(value: float) -> str:
    """Write a number with six digits, as C++ streams do."""
    return f"{value:g}"


def read_word(text: str) -> str:
    return matched(_WORD, text, "a word")[1]


def one_of(words: str, any_case: bool = False) -> Callable[[str], str]:
    """Return what reads one of some words; XLA also reads some of them in capitals."""
    known = words.split()

    def read(text: str) -> str:
        word = text.strip()
        if any_case:
            word = word.lower()
        if word not in known:
            raise ValueError(f"expected one of {words}, found {word[:30]!r}")
        return word

    return read


def read_string(text: str) -> str:
    """Read a string between quotes."""
    return unescape(matched(_QUOTED, text.strip(), "a string between quotes")[0][1:-1])


def print_string(value: str) -> str:
    """Write a string between quotes."""
    return f'"{escape(value)}"'


def read_dictionary(text: str) -> str:
    """Read a string, or braces and what is in them as it stands."""
    stripped = text.strip()
    if not stripped.startswith("{"):
        return read_string(stripped)
    if not is_dictionary(stripped):
        raise ValueError("expected nothing behind the brace that closes the first one")
    return stripped


_NO_QUEUES = re.compile(r'"wait_on_operation_queues"\s*:\s*\[\s*\]\s*,', re.ASCII)


def _read_config(text: str) -> str:
    """Notes of a compiler; XLA leaves out that an operation waits for no queue of a GPU."""
    return _NO_QUEUES.sub("", read_dictionary(text))


def print_dictionary(value: str) -> str:
    """Write a string, without quotes where it is one pair of braces."""
    return value if is_dictionary(value) else print_string(value)


# Kinds by name.


_PRECISIONS: Final = "default high highest packed_nibble"
_ALGORITHMS: Final = (
    "unset dot_any_f8_any_f8_f32 dot_any_f8_any_f8_f32_fast_accum dot_f16_f16_f16 dot_f16_f16_f32 "
    "dot_bf16_bf16_bf16 dot_bf16_bf16_f32 dot_bf16_bf16_f32_x3 dot_bf16_bf16_f32_x6 "
    "dot_bf16_bf16_f32_x9 dot_tf32_tf32_f32 dot_tf32_tf32_f32_x3 dot_f32_f32_f32 dot_f64_f64_f64"
)
# Words by kind: each kind is one of these.
_WORDS: Final = {
    "api_version": "API_VERSION_ORIGINAL API_VERSION_STATUS_RETURNING "
    "API_VERSION_STATUS_RETURNING_UNIFIED API_VERSION_TYPED_FFI",
    "schedule": "SCHEDULE_NONE SCHEDULE_LATEST SCHEDULE_EARLIEST",
    "padding_type": "PADDING_INVALID PADDING_VALID PADDING_SAME",
    "convolution_kind": "unset fprop wgrad dgrad",
    "direction": "EQ NE GE GT LE LT",
    "type": "FLOAT TOTALORDER SIGNED UNSIGNED",
    "distribution": "rng_invalid rng_uniform rng_normal",
    "fft_type": "FFT IFFT RFFT IRFFT",
    "kind": "kLoop kInput kOutput kCustom",
    "mode": "cross_replica cross_partition cross_replica_and_partition flattened_id",
    "transpose_a": "NO_TRANSPOSE TRANSPOSE ADJOINT TRANSPOSE_INVALID",
}

#: Readers and printers by kind.
KINDS: Final[dict[str, Kind]] = {
    **{kind: Kind(one_of(words), str) for kind, words in _WORDS.items()},
    "algorithm": Kind(one_of(_ALGORITHMS, any_case=True), str),
    "generator": Kind(one_of("rng_default rng_three_fry rng_philox", any_case=True), str),
    "bool": Kind(_read_bool, _print_bool),
    "bools": Kind(lambda text: _read_bools(text) or (False,), braced(_print_bool)),
    "backend_config": Kind(_read_config, print_dictionary),
    "epsilon": Kind(_read_float32, print_float),
    "int": Kind(read_int, str),
    "ints": Kind(read_ints, print_ints),
    "lists": Kind(read_lists, braced(print_ints)),
    "source_target_pairs": Kind(_read_pairs, braced(print_ints)),
    "parameter_replication": Kind(_read_flags, braced(_print_bool)),
    "operand_precision": Kind(_listed(one_of(_PRECISIONS, any_case=True)), braced()),
    "string": Kind(read_string, print_string),
    "text": Kind(str.strip, str),
}
