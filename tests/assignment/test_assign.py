"""The three forms of assignment, their shapes, casts, and what they leave alone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits, count_allocations


def test_the_aliasing_example_of_xtensor() -> None:
    """b grows from (2, 4) to (3, 2, 4) while it is read."""
    first, second = np.arange(24.0).reshape(3, 2, 4), np.arange(8.0).reshape(2, 4) * 100
    a, b = xl.asarray(first), xl.asarray(second)
    b.assign(a + b)
    assert b.shape == (3, 2, 4)
    for i in range(3):
        assert_same_bits(b[i], first[i] + second)


def test_a_growing_vector() -> None:
    a, b = xl.asarray([1, 2, 3, 4]), xl.asarray([[1, 2, 3, 4], [5, 6, 7, 8]])
    a.assign(a + b)
    assert a.tolist() == [[2, 4, 6, 8], [6, 8, 10, 12]]


def test_a_container_appended_to() -> None:
    a, b = xl.asarray([1, 2]), xl.asarray([3])
    for _ in range(3):
        a.assign(xl.concat([a, b]))
    assert a.tolist() == [1, 2, 3, 3, 3]
    a.assign(xl.concat([b, a[::-1]]))
    assert a.tolist() == [3, 3, 3, 3, 2, 1]
    m = xl.asarray([[1, 2], [3, 4]])
    m[...] = xl.concat([m[1:], m[:1]])
    assert m.tolist() == [[3, 4], [1, 2]]
    m.assign(xl.stack([m, m.T]))
    assert m.tolist() == [[[3, 4], [1, 2]], [[3, 1], [4, 2]]]


def test_a_matrix_and_its_transpose() -> None:
    m = xl.asarray(np.arange(9).reshape(3, 3))
    m[...] = m + m.T
    assert m.tolist() == [[0, 4, 8], [4, 8, 12], [8, 12, 16]]
    n = xl.asarray(np.arange(6).reshape(2, 3))
    n.assign(n.T)
    assert n.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_shifts_and_reversals() -> None:
    def fresh() -> Any:
        return xl.asarray([1, 2, 3, 4, 5])

    a = fresh()
    a[1:] = a[:-1]
    assert a.tolist() == [1, 1, 2, 3, 4]
    a = fresh()
    a[:-1] = a[1:]
    assert a.tolist() == [2, 3, 4, 5, 5]
    a = fresh()
    a[::-1] += a
    assert a.tolist() == [6, 6, 6, 6, 6]
    a = fresh()
    a[...] = a[::-1]
    assert a.tolist() == [5, 4, 3, 2, 1]
    a = xl.asarray([1, 2, 3, 4, 5, 6])
    a[::2] = a[1::2]
    assert a.tolist() == [2, 2, 4, 4, 6, 6]
    a[1:] += a[:-1]
    assert a.tolist() == [2, 4, 6, 8, 10, 12]


def test_container_rule_takes_the_shape() -> None:
    a = xl.zeros((2, 3))
    assert a.assign([[1.0], [2.0]]) is a
    assert a.tolist() == [[1], [2]]
    a.assign(1.2)
    assert (a.shape, a.tolist()) == ((), 1.2)
    a.assign(xl.ones((0, 4)))
    assert a.shape == (0, 4)
    a.assign(np.arange(3))
    assert (a.tolist(), str(a.dtype)) == ([0, 1, 2], "float64")


def test_container_rule_keeps_dtype_and_static_layout() -> None:
    a = xl.XArray([[1, 2]], dtype="int16", layout="column_major")
    a.assign(xl.asarray([[1.9, -1.9], [3.0, 4.0], [5.0, 6.0]]))
    assert (str(a.dtype), a.strides) == ("int16", (1, 3))
    assert a.tolist() == [[1, -1], [3, 4], [5, 6]]


def test_container_rule_keeps_strides_where_the_shape_stays() -> None:
    a = xl.XArray(np.zeros((2, 3)), strides=(1, 2))
    a.assign(np.arange(6.0).reshape(2, 3))
    assert (a.strides, a.tolist()) == ((1, 2), [[0, 1, 2], [3, 4, 5]])


def test_same_number_of_bytes_is_not_allocated_again() -> None:
    a, b = xl.zeros((2, 3)), xl.ones((3, 2))
    address = a.buffer.address
    with count_allocations() as count:
        a.assign(b)
    assert (a.shape, a.buffer.address, count.allocations) == ((3, 2), address, 0)
    a.assign(a.T)
    assert a.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_view_rule_broadcasts() -> None:
    a = xl.zeros((2, 3))
    a[...] = 1.2
    assert a.tolist() == [[1.2] * 3] * 2
    a[...] = [1, 2, 3]
    assert a.tolist() == [[1, 2, 3]] * 2
    a[...] = [[7], [8]]
    assert a.tolist() == [[7] * 3, [8] * 3]
    a[...] = xl.ones((1, 1, 2, 3))
    assert a.tolist() == [[1] * 3] * 2
    a[1] = xl.asarray([[4.0, 5, 6]])
    a[:, 0] = np.float32(0.5)
    assert a.tolist() == [[0.5, 1, 1], [0.5, 5, 6]]
    a[0, 0] = xl.asarray(9)
    a[()] = a
    assert float(a[0, 0]) == 9


def test_view_rule_never_resizes() -> None:
    a = xl.zeros((4, 3, 2))
    for wrong in (xl.ones((2, 3, 4)), xl.ones((2, 4, 3, 2)), xl.ones(3), xl.ones((4, 3, 0))):
        for target in (a, xl.noalias(a)):
            with pytest.raises(
                xl.BroadcastError, match=r"cannot be broadcast into X\w+ float64\[4, 3, 2\]"
            ):
                target[...] = wrong
        view = a[:, :, :]
        with pytest.raises(xl.BroadcastError, match="XView float64"):
            view.assign(wrong)
    assert not bool(xl.any(a))


def test_in_place_operators_never_grow() -> None:
    """NumPy's rule; xtensor's container would take the larger shape."""
    b = xl.ones((2, 3))
    for shape in ((1, 3), (3,)):
        a = xl.zeros(shape)
        for target in (a, xl.noalias(a)):
            with pytest.raises(xl.BroadcastError, match=r"in-place add.*\(2, 3\).*use assign"):
                target += b
        assert a.tolist() == np.zeros(shape).tolist()


def test_casts_follow_numpy() -> None:
    for code in ("i1", "u1", "i4", "u8", "f4", "f2", "?", "c8"):
        ours, theirs = xl.zeros(4, dtype=code), np.zeros(4, code)
        values = np.array([0.0, 1.6, 100.4, 77.0])
        ours[...] = values
        theirs[...] = values
        assert_same_bits(ours, theirs)
        ours[...] = np.arange(4)
        theirs[...] = np.arange(4)
        assert_same_bits(ours, theirs)


def test_python_integers_must_fit() -> None:
    a = xl.zeros(2, dtype="uint8")
    for value in (256, -1):
        with pytest.raises(OverflowError, match="uint8"):
            a[...] = value
        with pytest.raises(OverflowError, match="uint8"):
            a += value
    a[...] = 255
    a += 1
    assert a.tolist() == [0, 0]


def test_one_rounding_into_narrow_floats() -> None:
    a = xl.zeros(1, dtype="bfloat16")
    a[...] = xl.asarray([1.0]) + (2.0**-8 + 2.0**-40)
    assert float(a[0]) == 1.0078125
    a += 0.0078125 / 2
    assert float(a[0]) == 1.015625


def test_scalars_and_arrays_of_numpy() -> None:
    a = xl.zeros((2, 2), dtype="float32")
    a[0] = np.arange(2)
    a[1] = np.float64(0.1)
    assert a.tolist() == [[0, 1], [float(np.float32(0.1))] * 2]
    a[...] = np.array(3)
    assert a.tolist() == [[3, 3], [3, 3]]


def test_empty_selections() -> None:
    a = xl.asarray([1, 2, 3])
    a[3:] = 9
    a[3:] = a[:0]
    a[[]] = 5
    a[1:1] += xl.ones((4, 0), dtype="i8")[0]
    assert a.tolist() == [1, 2, 3]
    xl.zeros((0, 3))[...] = xl.ones(3)


def test_chained_views() -> None:
    a = xl.zeros((3, 4))
    a[1:][0][::2] = 5
    a.T[1] += 1
    xl.flip(a)[0, 0] = 9
    assert a.tolist() == [[0, 1, 0, 0], [5, 1, 5, 0], [0, 1, 0, 9]]


def test_integer_array_on_the_left() -> None:
    a, expected = xl.asarray(np.arange(12).reshape(3, 4)), np.arange(12).reshape(3, 4)
    for key, value in (
        (([2, 0],), -1),
        ((slice(None), [1, 1, 3]), np.array([7, 8, 9])),
        ((1, [0, -1]), [50, 60]),
        (([[0, 2], [1, 1]], slice(0, 2)), np.arange(8).reshape(2, 2, 2)),
        ((xl.asarray([0]), 3), xl.asarray([5]) * 2),
    ):
        a[key] = value
        plain = tuple([np.asarray(k) if isinstance(k, xl.XArray) else k for k in key])
        expected[plain] = np.asarray(value)
        assert a.tolist() == expected.tolist()
    a[[0, 1]] += 100
    expected[[0, 1]] += 100
    assert a.tolist() == expected.tolist()
    with pytest.raises(xl.BroadcastError, match="cannot be broadcast to the selection's shape"):
        a[[0, 1]] = np.zeros(3)
    with pytest.raises(xl.IndexRangeError, match="out of range for an extent of 3"):
        a[[0, 3]] = 0
    assert a.tolist() == expected.tolist()


def test_operands_are_never_changed() -> None:
    """Every destination but the one written to, for operands that are permuted views of it."""
    first, second = np.arange(20.0).reshape(4, 5), np.arange(20.0).reshape(5, 4) + 50
    for change in CHANGES:
        a, b, c = xl.asarray(first), xl.asarray(second), xl.zeros((4, 5))
        change(a, b, c)
        assert_same_bits(a, first)
        assert_same_bits(b, second)


CHANGES: tuple[Callable[[Any, Any, Any], Any], ...] = (
    lambda a, b, c: c.assign(a.T + b),
    lambda a, b, c: c.__setitem__(..., b.T * a),
    lambda a, b, c: c.__iadd__(a[::-1, ::-1]),
    lambda a, b, c: c.assign(xl.sum(a, axis=0)),
    lambda a, b, c: c.assign(xl.concat([a.T, b])),
    lambda a, b, c: c[1:].__setitem__(..., a[[3, 0, 1]]),
    lambda a, b, c: xl.noalias(c).assign(xl.permute_dims(a, (1, 0)) - b),
    lambda a, b, c: c.assign(xl.reshape(a.T, (4, 5))),
    lambda a, b, c: xl.jit(lambda u, v: u.T * v)(a, b),
    lambda a, b, c: c.assign(xl.where(a > 3, a, b.T)),
)


def test_large_results_of_small_operands_are_refused() -> None:
    a = xl.zeros(3)
    wide = xl.broadcast_to(xl.ones(1), (1 << 20,))
    with xl.config(max_result_bytes=1 << 20):
        with pytest.raises(xl.SizeError, match="max_result_bytes"):
            a.assign(wide + 1)
        with pytest.raises(xl.SizeError, match="max_result_bytes"):
            xl.eval(wide + 1)
    assert a.tolist() == [0, 0, 0]


COMPLEX = [1 + 2j, 3j]

WRITES: dict[str, Callable[[Any, Any], object]] = {
    "whole": lambda a, z: a.__setitem__(Ellipsis, z + 1),
    "slice": lambda a, z: a.__setitem__(slice(0, 2), z + 1),
    "array": lambda a, z: a.__setitem__(Ellipsis, np.array(COMPLEX)),
    "positions": lambda a, z: a.__setitem__([1, 0], z + 1),
    "fill": lambda a, z: a.fill(1j * z[0]),
    "assign": lambda a, z: a.assign(z + 1),
    "assign another shape": lambda a, z: a.assign(xl.stack([z, z])),
    "labels": lambda a, z: a.__setitem__("i", 2 * z["i"]),
    "labels of a product": lambda a, z: a.__setitem__("i", xl.eye(2)["i,j"] * z["j"]),
    "noalias": lambda a, z: xl.noalias(a).__setitem__(Ellipsis, z + 1),
    "noalias assign": lambda a, z: xl.noalias(a).assign(z + 1),
    "noalias labels": lambda a, z: xl.noalias(a).__setitem__("i", 2 * z["i"]),
    "explain": lambda a, z: xl.explain(a, z + 1),
    "jagged": lambda a, z: xl.XJagged([[1.0], [2.0, 3.0]]).__setitem__(Ellipsis, np.complex128(1j)),
    "jit": lambda a, z: a.__setitem__(Ellipsis, xl.jit(lambda x: x + 1)(z)),
}


@together("write", WRITES.values(), ids=WRITES)
def test_a_lost_imaginary_part_is_told_where_the_user_wrote(
    write: Callable[[Any, Any], object],
) -> None:
    with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part") as found:
        write(xl.zeros(2), xl.asarray(COMPLEX))
    assert [warning.filename for warning in found] == [__file__]
    line = write.__code__.co_firstlineno
    assert found[0].lineno == line


def test_python_complex_numbers_do_not_go_into_real_memory() -> None:
    for dtype in ("float64", "int32", "bfloat16"):
        a = xl.zeros(3, dtype=dtype)
        for key in (0, slice(1, None), ..., [0, 1], np.array([True, False, True])):
            with pytest.raises(TypeError, match=f"1j does not go into {dtype}"):
                a[key] = 1j
        with pytest.raises(TypeError, match="1j does not go into"):
            a.fill(1j)
        with pytest.raises(TypeError, match="complex numbers do not go into"):
            a[...] = [1j, 2, 3]
        for values in (1j, [1j, 2]):
            with pytest.raises(TypeError, match=f"complex numbers do not go into {dtype}"):
                xl.asarray(values, dtype=dtype)
        assert a.tolist() == [0, 0, 0]
    flags = xl.zeros(2, dtype=bool)
    flags[0] = 1j
    assert flags.tolist() == [True, False]


def test_an_expression_of_memory_alone_keeps_its_values() -> None:
    """As containers make a new leaf for each use, only such an expression holds one."""
    a = xl.asarray([1.0, 2.0, 3.0])
    kept = xl.XExpression(a.node)
    a[...] = kept + 1
    a[...] = kept * 2
    a += kept
    assert (a.tolist(), kept.tolist()) == ([3.0, 6.0, 9.0], [1.0, 2.0, 3.0])
    with count_allocations() as count:
        a[...] = xl.XExpression(a.node) + 1
        a += a
        a += xl.XExpression(a.node)
    assert count.snapshots == 0


def test_a_stretched_value_leaves_no_program_for_whole_ones() -> None:
    c, values = xl.zeros(6, dtype="float32"), xl.asarray([3, 4, 5, 6, 7, 8], dtype="float32")
    c[1:] = values[[1, 0]][1:]
    assert c.tolist() == [0, 3, 3, 3, 3, 3]
    c[...] = values[[5, 4, 3, 2, 1, 0]]
    assert c.tolist() == [8, 7, 6, 5, 4, 3]


@pytest.mark.parametrize("layout", ["row_major", "{1,0:T(2,2)}"])
def test_a_copy_of_the_right_hand_side_leaves_it_its_value(layout: str) -> None:
    """Also where an expression has a node from the start, as those of tiled memory have."""
    x = xl.asarray(np.arange(6.0).reshape(2, 3), layout=layout)
    for change in (lambda e: e.astype(e.dtype), copy.copy):
        e, wanted = x * 2 + 1, np.asarray(x) * 2 + 1
        x[...] = change(e)
        assert np.array_equal(e, wanted)
        assert np.array_equal(x, wanted)


def test_text_and_objects_are_the_numbers_they_stand_for() -> None:
    for xp in (np, xl):
        a = xp.zeros((3, 2))
        a[0] = ["1.5", "2"]
        a[1, 0], a[1, 1] = "3", None
        a[[2], 1] = [b"4"]
        a[2, 0] = Fraction(1, 2)
        np.testing.assert_array_equal(np.asarray(a), [[1.5, 2], [3, np.nan], [0.5, 4]])
        with pytest.raises(ValueError, match="could not convert string to float"):
            a[0] = ["1", "x"]
        with pytest.raises(TypeError):
            xp.zeros(1, dtype=int)[0] = None
        assert xp is np or a[0].tolist() == [1.5, 2]  # NumPy has written the first
        assert xp.fromiter(iter("12"), int).tolist() == [1, 2]


@pytest.mark.parametrize(
    "write",
    [
        lambda v, b: v.__setitem__(Ellipsis, b * 2),
        lambda v, b: v.__setitem__(Ellipsis, xl.exp(b) - v),
        lambda v, b: v.__iadd__(b),
        lambda v, b: v.__iadd__(b * 2),
        lambda v, b: v.__imul__(1.0),
        lambda v, b: np.add(b, 1, out=v),
    ],
    ids=["other", "own", "memory", "lazy", "number", "out"],
)
@pytest.mark.parametrize("shared", [False, True])
def test_an_element_under_two_indices_is_refused_where_the_strides_are_known(
    write: Callable[[Any, Any], object], shared: bool
) -> None:
    """Kernels serve all extents of some strides, of which some have memory twice."""
    a = xl.asarray(np.arange(40.0))
    if shared:
        np.asarray(a)
    for _ in range(40):
        write(xl.as_strided(a, (3, 4), (4, 1)), xl.ones((3, 4)))
    before = a.tolist()
    with pytest.raises(xl.OverlapError, match="more than once"):
        write(xl.as_strided(a, (3, 6), (4, 1)), xl.ones((3, 6)))
    assert a.tolist() == before
