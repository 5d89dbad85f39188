"""Arrays as text, and what they are in words."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together


def test_tables_there_and_back(tmp_path: Path) -> None:
    values = np.random.default_rng(0).random((3, 4)) * 1e-7
    for x in (values, values[0], xl.asarray(values).T + 0):
        xl.dump_csv(tmp_path / "x.csv", x)
        again = xl.load_csv(tmp_path / "x.csv")
        np.testing.assert_array_equal(again, np.atleast_2d(np.asarray(x)))
    xl.dump_csv(tmp_path / "x.csv", xl.arange(3), delimiter=";")
    read = xl.load_csv(tmp_path / "x.csv", delimiter=";", dtype="int8")
    assert (read.tolist(), read.dtype) == ([[0, 1, 2]], xl.int8)


def test_parts_of_tables() -> None:
    text = "a,b\n1,2 % one\n3,4\n5,6\n"
    read = xl.load_csv(io.StringIO(text), skip_rows=1, max_rows=2, comments="%")
    assert read.tolist() == [[1, 2], [3, 4]]


#: Numbers of each dtype that another one rounds, wraps or has no word for.
EXACT = {
    "int64": [(1 << 53) + 1, -(1 << 63), (1 << 63) - 1],
    "uint64": [(1 << 64) - 1, 0, (1 << 53) + 1],
    "int8": [-128, 127, 0],
    "int4": [-8, 7, 0],
    "bool": [True, False, True],
    "float32": [0.1, -0.0, 3e38],
    "bfloat16": [1.5, -0.0, 1e30],
    "complex128": [1 + 2j, complex(-0.0, 0.1), complex("nan+infj")],
}


@together("dtype", EXACT)
def test_numbers_of_all_dtypes_come_back(dtype: str) -> None:
    x = xl.asarray([EXACT[dtype]], dtype=dtype)
    text = io.StringIO()
    xl.dump_csv(text, x)
    again = xl.load_csv(io.StringIO(text.getvalue()), dtype=dtype)
    assert again.dtype == x.dtype
    assert str(again.tolist()) == str(x.tolist())


@together(
    ("text", "dtype"),
    [
        *(("300", "int8"), ("8", "int4"), ("-1", "uint8"), ("1.5", "int32"), ("nan", "int64")),
        *(("18446744073709551616", "uint64"), ("2", "bool"), ("yes", "bool"), ("1+2j", "float64")),
    ],
)
def test_numbers_that_a_dtype_does_not_hold_are_refused(text: str, dtype: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what NumPy warns of is refused all the same
        with pytest.raises(xl.FormatError, match="load_csv"):
            xl.load_csv(io.StringIO(f"1\n{text}\n"), dtype=dtype)
    assert xl.load_csv(io.StringIO(" 0 \n1"), dtype=dtype).tolist() == [[0], [1]]


@pytest.mark.parametrize("text", ["1,2\n3\n", "1,x\n"])
def test_what_is_no_table(text: str) -> None:
    with pytest.raises(xl.FormatError, match="load_csv"):
        xl.load_csv(io.StringIO(text))
    with pytest.raises(xl.ShapeError, match="two dimensions"):
        xl.dump_csv(io.StringIO(), xl.zeros((1, 1, 1)))


def test_json() -> None:
    for x in (xl.asarray([[1, 2], [3, 4]]), xl.asarray([0.1, -0.0]), xl.asarray(True)):
        again = xl.from_json(xl.to_json(x))
        assert again.dtype == x.dtype
        np.testing.assert_array_equal(again, x)
    assert xl.from_json(b"[1, 2]", dtype="float32").dtype == xl.float32
    for text in ("[[1], [2, 3]]", "[1", '["a"]', "{}"):
        with pytest.raises(xl.FormatError, match="from_json"):
            xl.from_json(text)
    with pytest.raises(ValueError, match="JSON"):
        xl.to_json(xl.asarray([xl.nan]))


def test_info() -> None:
    a = xl.zeros((2, 3))
    assert xl.info(a) == "XArray float64[2, 3]: row_major, strides (3, 1), 48 bytes"
    assert xl.info(a.T[1:]).startswith("XView float64[2, 2]: ")
    assert xl.info(xl.adapt(b"ab", dtype="uint8")).endswith("read-only")
    assert "T(2,2)" in xl.info(xl.zeros((2, 2), layout="{1,0:T(2,2)}"))
    assert xl.info(xl.sum(a)) == "XReducer sum float64[]: lazy"
    assert xl.info(xl.view(a, xl.keep(1, 1))).endswith("read and written by position")
    fixed = xl.XTensorFixed[xl.int8, (2,)]()
    assert "shape fixed" in xl.info(fixed + fixed)
