"""Headers that are damaged, hostile, or of arrays that are not supported."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.io.files import described, loaded, npy, refuses, same, saved

GOOD = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"


def test_the_usual_form_is_read() -> None:
    assert same(loaded(npy()), np.zeros(2))
    assert same(loaded(described("<f8")), np.zeros(2))


@together("length", range(len(npy())))
def test_every_truncation_is_refused(length: int) -> None:
    refuses(npy()[:length], "begins with" if length < 6 else "ends after|after its header")


@pytest.mark.parametrize("extra", [b"\x00", b"\n", bytes(16), npy()[1:]])
def test_bytes_that_follow_are_refused(extra: bytes) -> None:
    refuses(npy() + extra, r"after its header; shape \(2,\) of float64 needs exactly 16")


@together(
    ("data", "message"),
    [
        (b"", "begins with b'' and has 0 bytes"),
        (b"\x80\x04\x95pickle", r"begins with b'\\x80"),
        (npy(magic=b"\x93NUMPX"), "nothing else is read"),
        (npy(version=(1, 1)), "version 1.1"),
        (npy(version=(4, 0)), "version 4.0; 1.0, 2.0 and 3.0"),
        (npy(version=(0, 0)), "version 0.0"),
        (npy(length=65_000), "ends after 73 bytes of its header"),
        (npy(version=(2, 0), length=0xFFFF_FFF0), "header of 4294967280 bytes; at most 65536"),
        (npy(version=(3, 0), length=65_537), "at most 65536"),
        (npy(version=(3, 0), header=b"\xff{}"), "no text"),
    ],
)
def test_what_is_no_file(data: bytes, message: str) -> None:
    refuses(data, message)


HOSTILE = [
    "",
    "{}",
    "{",
    "}{",
    "{,}",
    "None",
    "[1]",
    "()" * 9000,
    "{" * 30_000 + "}" * 30_000,
    "-" * 60_000 + "1",
    "(" * 60_000,
    "{'descr': " + "[" * 60_000,
    "{'a':" * 10_000,
    GOOD + GOOD,
    GOOD + " #",
    GOOD[:-2] + ",,}",
    GOOD.replace("'shape'", "'shapes'"),
    GOOD.replace("'shape': (2,), ", ""),
    GOOD.replace("}", "'more': (1,)}"),
    GOOD.replace("}", "'shape': (3,)}"),
    GOOD.replace("'descr'", "b'descr'"),
    GOOD.replace("'descr'", "descr"),
    GOOD.replace("'descr': ", "'descr', "),
    GOOD.replace("'<f8'", "'<f8\\x00'"),
    GOOD.replace("'<f8'", "'''<f8'''"),
    GOOD.replace("'<f8'", "__import__('os')"),
    GOOD.replace("'<f8'", "'<f8' '<f8'"),
    GOOD.replace("False", "0"),
    GOOD.replace("False", "None"),
    GOOD.replace("(2,)", "2"),
    GOOD.replace("(2,)", "2**9"),
    GOOD.replace("(2,)", "((2,),)"),
]


@together("header", HOSTILE)
@pytest.mark.parametrize("version", [(1, 0), (3, 0)])
def test_what_is_no_header(header: str, version: tuple[int, int]) -> None:
    refuses(npy(header, version=version), "has the header .*'descr', 'fortran_order' and 'shape'")


@pytest.mark.parametrize("order", ["'False'", "'True'", "(1,)", "[True]"])
def test_orders_that_are_none(order: str) -> None:
    refuses(npy(GOOD.replace("False", order)), "fortran_order .*; it must be True or False")


@together(
    "shape",
    ["(2)", "[2,]", "'2'", "True", "(True,)", "(-2,)", "(2.0,)", "(,)", "(2,,)", "(,2)", "(2 2,)",
     "(0x2,)", "(02,)", "(1_0,)", "(+2,)", "(2j,)", "(99999999999999999999,)", "(\u0662,)"],
)  # fmt: skip
def test_shapes_that_are_none(shape: str) -> None:
    header = GOOD.replace("(2,)", shape).encode()
    refuses(npy(header, version=(3, 0)), "it must be a tuple of integers")


@together(
    ("shape", "message"),
    [
        ((65536, 65536), "needs exactly 34359738368"),
        ((2**40, 2**40), "exceed"),
        ((2**61,), "exceed"),
        ((2**63 - 1,), "exceed"),
        ((2**32 + 1, 2**32), "exceed"),
        ((0, 2**62, 2**62), "exceed"),
        ((2**60,), "needs exactly 9223372036854775808|exceed"),
        ((2**59,), "needs exactly 4611686018427387904"),
        ((3,), "holds 16 bytes after its header; .* needs exactly 24"),
        ((1,), "needs exactly 8"),
        ((), "needs exactly 8"),
        ((0,), "needs exactly 0"),
        ((1,) * 65, "more than 64 dimensions"),
        ((1,) * 20_000, "more than 64 dimensions"),
    ],
)
def test_sizes_are_held_against_the_file(shape: tuple[int, ...], message: str) -> None:
    refuses(described("<f8", shape), message)


def test_what_just_fits() -> None:
    assert loaded(described("<f8", (1,) * 63 + (2,))).ndim == 64
    assert loaded(described("<f8", (0, 2**40), b"")).shape == (0, 2**40)
    assert loaded(described("<f8", (2**40, 0, 3), b"")).size == 0


@together(
    ("descr", "reason"),
    [
        ("|O", "pickles"),
        ("O", "pickles"),
        ("|S0", "no supported dtype"),
        ("<U999999999", "no supported dtype"),
        ("<M8[x]", "no supported dtype"),
        ("<m4[s]", "no supported dtype"),
        ([("a", "<f8")], "structures"),
        ([("a", "<f8"), ("b", "<f8")], "structures"),
        ([("a", "<i4", (2,))], "structures"),
        ([("bfloat16", "<u4")], "structures"),
        ([("bfloat16", "<V2")], "structures"),
        ([("float32", "<u4")], "structures"),
        ([], "structures"),
        (("<f8",), "no supported dtype"),
        (True, "no supported dtype"),
        ("", "no supported dtype"),
        ("<", "no supported dtype"),
        ("<f16", "no supported dtype"),
        ("<c32", "no supported dtype"),
        ("<V8", "no supported dtype"),
        ("|f8", "no supported dtype"),
        ("=f8", "no supported dtype"),
        ("f8", "no supported dtype"),
        ("float64", "no supported dtype"),
        ("<f8 ", "no supported dtype"),
        ("<f8;rm", "no supported dtype"),
    ],
    ids=str,
)
def test_elements_that_are_not_supported(descr: object, reason: str) -> None:
    refuses(described(descr), f"holds elements of .*; .*{reason}")
    refuses(described(descr), "holds elements of", dtype="uint8")


def test_a_limit_of_the_user() -> None:
    data = saved(xl.ones(10))
    with xl.config(max_result_bytes=79):
        refuses(data, "max_result_bytes is 79")
    with xl.config(max_result_bytes=80):
        assert loaded(data).size == 10


@given(st.text(alphabet="{}()[]'\",: <f8TrueFalsdcshpnot_0123456789\n", max_size=80))
def test_no_text_does_harm(text: str) -> None:
    with pytest.raises(xl.FormatError):
        loaded(npy(text))


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00", b"PK\x03\x04"]),
)
def test_no_bytes_do_harm(data: bytes, start: bytes) -> None:
    with pytest.raises(xl.FormatError):
        loaded(start + data)
