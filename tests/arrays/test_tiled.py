"""Containers with XLA layouts: how they are made, read, written, refused, copied and printed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits

T = "{1,0:T(2,4)}"
VALUES = np.arange(15, dtype="f4").reshape(3, 5)
TILED = xl.Layout.parse(T)


def tiled(layout: str | xl.Layout = T) -> xl.XArray:
    return xl.asarray(VALUES, layout=layout)


# --- construction --------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [T, TILED], ids=["text", "object"])
def test_every_constructor_takes_a_layout(layout: Any) -> None:
    fixed = xl.XTensorFixed[xl.float32, (3, 5)]
    made = [
        xl.zeros((3, 5), dtype="f4", layout=layout),
        xl.ones((3, 5), dtype="f4", layout=layout),
        xl.full((3, 5), 7, dtype="f4", layout=layout),
        xl.asarray(VALUES, layout=layout),
        xl.XArray(VALUES, layout=layout),
        xl.XTensor(VALUES, layout=layout),
        fixed(VALUES, layout=layout),
    ]
    expected = [np.zeros((3, 5), "f4"), np.ones((3, 5), "f4"), np.full((3, 5), 7, "f4")]
    for container, values in zip(made, [*expected, *[VALUES] * 4], strict=True):
        assert_same_bits(container, values)
        assert container.layout == container.static_layout == TILED
        assert str(container.spec) == "f32[3,5]{1,0:T(2,4)}"
        assert container.buffer.nbytes == container.spec.nbytes == 4 * 32
        assert container.shape == (3, 5)
    assert xl.empty((3, 5), layout=layout).spec == xl.ArraySpec("f64", (3, 5), TILED)
    assert_same_bits(xl.arange(5, layout="{0:T(2)(2,1)}"), np.arange(5))


@pytest.mark.parametrize("text", ["{1,0}", "{0,1}"])
def test_layouts_without_tiles_are_strided(text: str) -> None:
    a = tiled(text)
    assert a.strides == ((5, 1) if text == "{1,0}" else (1, 3))
    assert str(a.spec) == f"f32[3,5]{text}"
    assert np.shares_memory(a.numpy(), a.buffer.data)


def test_specs_of_containers_without_a_layout() -> None:
    assert str(xl.asarray(VALUES).spec) == "f32[3,5]{1,0}"
    assert str(xl.asarray(VALUES, layout="column_major").spec) == "f32[3,5]{0,1}"
    assert str(xl.asarray(VALUES).T.spec) == "f32[5,3]{0,1}"
    with pytest.raises(xl.LayoutError, match=r"spec: .*XView float32\[3, 3\].*no layout"):
        _ = xl.asarray(VALUES)[:, ::2].spec
    with pytest.raises(xl.LayoutError, match=r"spec: .*XView float32\[2, 5\].*view that is cut"):
        _ = tiled()[1:].spec
    assert str(tiled("{1,0:T(2,2)}").T.spec) == "f32[5,3]{0,1:T(2,2)}"


def test_memory_spaces_are_kept() -> None:
    a = tiled("{1,0:T(2,4)S(5)}")
    assert a.spec.layout is not None
    assert a.spec.layout.memory_space == 5
    assert str(xl.eval(a + 1).spec) == "f32[3,5]{1,0:T(2,4)S(5)}"


@pytest.mark.parametrize("shape", [(), (0, 3), (3, 0), (0,), (1, 1)])
def test_scalars_and_empty_arrays(shape: tuple[int, ...], engine: str) -> None:
    order = ",".join(str(k) for k in reversed(range(len(shape))))
    a = xl.ones(shape, dtype="f4", layout=f"{{{order}:T(2,4)}}")
    assert a.buffer.nbytes == a.spec.nbytes == (0 if 0 in shape else 32)
    assert_same_bits(a, np.ones(shape, "f4"))
    assert_same_bits(xl.eval(a + a), np.full(shape, 2, "f4"))
    assert_same_bits(xl.sum(a), np.sum(np.ones(shape, "f4")))
    a += 1
    a[...] = a * 2
    assert_same_bits(pickle.loads(pickle.dumps(a)), np.full(shape, 4, "f4"))
    assert_same_bits(a.to_layout("row_major"), np.full(shape, 4, "f4"))


# --- refusals ------------------------------------------------------------------------------------

REFUSED: list[tuple[Callable[[xl.XArray], Any], type[Exception], str]] = [
    (lambda a: a.strides, xl.LayoutError, r"strides: .*T\(2,4\).*to_layout"),
    (lambda a: a.backstrides, xl.LayoutError, r"backstrides: .*T\(2,4\)"),
    (lambda a: a.reshape_((5, 3)), xl.LayoutError, r"reshape_: .*T\(2,4\)"),
    (lambda a: a.transpose_(), xl.LayoutError, r"transpose_: .*T\(2,4\)"),
    (lambda a: a.resize_((3, 5), strides=(5, 1)), xl.LayoutError, r"resize_: .*T\(2,4\)"),
    (lambda a: a.bitcast("f32[5,3]{0,1:T(2,4)}"), xl.LayoutError, r"bitcast: f32\[3,5\]"),
    (lambda a: a.bitcast("f64[3,5]{1,0:T(2,4)}"), xl.LayoutError, r"bitcast: .*f64"),
    (lambda a: a.bitcast("f32[3,5]{1,0"), xl.LayoutError, r"at column \d+"),
    (lambda a: a.assign(VALUES[0]), xl.LayoutError, r"validate: .*T\(2,4\)"),
    (lambda a: a.to_layout("{0:T(4)}"), xl.LayoutError, r"T\(4\)"),
    (lambda a: a.to_layout("{1,0:E(16)}"), xl.LayoutError, r"to_layout: .*E\(16\).*float32"),
    (lambda a: a.to_layout("tiled"), xl.LayoutError, "'tiled' is unknown"),
    (lambda a: np.asarray(a, copy=False), ValueError, r"T\(2,4\)\} needs a copy"),
    (lambda a: np.from_dlpack(a, copy=False), BufferError, r"T\(2,4\)\} needs a copy"),
    (lambda a: xl.from_dlpack(a, copy=False), BufferError, r"T\(2,4\)\} needs a copy"),
    (lambda a: xl.zeros((2, 2), layout=T, strides=(2, 1)), xl.LayoutError, r"zeros: strides"),
    (lambda a: xl.XArray(VALUES, layout=T, strides=(5, 1)), xl.LayoutError, r"XArray: strides"),
    (lambda a: xl.broadcast_to(a, (2, 3, 5)).fill(1), xl.ReadOnlyError, "assignment: .*read-only"),
    # Before machine code is loaded, Python 3.11 cannot be told why (`arrays.buffer_slot`).
    (memoryview, (SystemError, BufferError), "without setting|cannot describe XArray"),
]


@together(("call", "error", "match"), REFUSED, ids=[r[2] for r in REFUSED])
def test_refused(call: Callable[[xl.XArray], Any], error: Any, match: str) -> None:
    a = tiled()
    with pytest.raises(error, match=match):
        call(a)
    assert_same_bits(a, VALUES)


# --- other memory --------------------------------------------------------------------------------


def test_numpy_gets_a_copy() -> None:
    a = tiled()
    copied = a.numpy()
    copied[...] = 0
    assert_same_bits(a, VALUES)
    assert np.asarray(a, dtype="f8").dtype == "f8"
    assert_same_bits(np.array(a, copy=True), VALUES)
    assert_same_bits(np.from_dlpack(a), VALUES)


def test_adapting_a_dump() -> None:
    memory = bytearray(tiled().buffer.data.tobytes())
    a = xl.adapt(memory, spec="f32[3,5]{1,0:T(2,4)}")
    assert_same_bits(a, VALUES)
    a[2, 4] = 99
    assert np.frombuffer(memory, "f4").max() == 99
    b = xl.adapt(bytes(8) + bytes(memory), (3, 5), dtype="f4", layout=T, offset=2)
    assert b.readonly
    assert_same_bits(b, np.asarray(a))
    with pytest.raises(xl.ReadOnlyError, match="read-only"):
        b[0] = 1
    assert xl.adapt(bytearray(64), spec=xl.ArraySpec("f32", (4, 4))).strides == (4, 1)


@together(
    ("size", "options", "match"),
    [
        (127, {"spec": "f32[3,5]{1,0:T(2,4)}"}, r"adapt: .*needs bytes 0 to 128 of .* 127"),
        (23, {"spec": "s4[5,7]{1,0:T(2,4)E(4)}"}, r"adapt: .*needs bytes 0 to 24"),
        (256, {"spec": "f32[4]", "dtype": "f4"}, "adapt: spec says"),
        (256, {"spec": "(f32[4])"}, "not the spec of one array"),
        (256, {"spec": "f32[<=4]"}, "fixed shape"),
        (128, {"shape": (3, 5), "dtype": "f4", "layout": T, "offset": 1}, "needs bytes 4 to 132"),
        (128, {"shape": (3, 5), "dtype": "f4", "layout": T, "offset": -1}, "needs bytes -4"),
        (64, {"shape": (2, 3), "dtype": "int4", "layout": "{1,0:E(4)}", "offset": 3}, "offset 3"),
    ],
)
def test_adapting_what_does_not_fit(size: int, options: dict[str, Any], match: str) -> None:
    with pytest.raises(xl.LayoutError, match=match):
        xl.adapt(bytearray(size), **options)


def test_adaptors_take_another_shape_only_where_the_bytes_are_the_same() -> None:
    memory = bytearray(4 * 32)
    a = xl.adapt(memory, spec="f32[4,8]{1,0:T(2,4)}")
    a.assign(np.ones((8, 4), "f4"))
    assert a.shape == (8, 4)
    assert np.frombuffer(memory, "f4").sum() == 32
    with pytest.raises(xl.LayoutError, match=r"assign: .*\(1, 32\).*T\(2,4\).*not contiguous"):
        a.assign(np.ones((1, 32), "f4"))  # would reach beyond the memory
    padded = xl.adapt(memory, spec="f32[3,5]{1,0:T(2,4)}")
    with pytest.raises(xl.LayoutError, match=r"assign: .*\(3, 5\).*not contiguous"):
        padded.assign(np.ones((5, 3), "f4"))


def test_bitcasts_share_memory() -> None:
    a = xl.asarray(np.arange(64, dtype="f4").reshape(8, 8), layout="{1,0:T(4,4)}")
    b = a.bitcast("f32[2,4,8]{2,1,0:T(4,4)}")
    assert b.buffer is a.buffer
    assert_same_bits(b, np.asarray(a).reshape(2, 4, 8))
    b[0] = -1
    assert (np.asarray(a)[:4] == -1).all()
    assert a.bitcast(xl.ArraySpec("s32", (8, 8), a.layout)).dtype == np.int32


# --- copies --------------------------------------------------------------------------------------


def test_copies_keep_the_layout() -> None:
    a = xl.XTensor(VALUES, layout=T)
    for made in (a.copy(), copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert type(made) is xl.XTensor
        assert made.layout == TILED
        assert made.buffer is not a.buffer
        assert made.buffer.data.tobytes() == a.buffer.data.tobytes()
    assert a.astype("f4", copy=False) is a
    assert xl.asarray(a) is a
    assert xl.eval(a.astype("f8")).layout == TILED
    assert type(a.to_layout("row_major")) is xl.XTensor
    view = pickle.loads(pickle.dumps(a[1:]))
    assert_same_bits(view, VALUES[1:])
    assert view.layout is xl.row_major
    assert_same_bits(a[1:].to_layout("{0,1:T(2,2)}"), VALUES[1:])


def test_likes_keep_the_layout() -> None:
    a = tiled()
    for made in (xl.zeros_like(a), xl.ones_like(a), xl.empty_like(a), xl.full_like(a, 3)):
        assert made.layout == TILED
    assert str(xl.zeros_like(a, dtype="i1").spec) == "s8[3,5]{1,0:T(2,4)}"
    packed = xl.zeros((2, 3), dtype=ml_dtypes.int4, layout="{1,0:E(4)}")
    assert str(xl.zeros_like(packed).spec) == "s4[2,3]{1,0:E(4)}"
    assert str(xl.zeros_like(packed, dtype="f4").spec) == "f32[2,3]{1,0}"
    assert str(xl.eval(packed.astype("u2")).spec) == "u16[2,3]{1,0}"
    assert xl.eval(packed == packed).strides == (3, 1)
    assert str(xl.eval(packed + packed).spec) == "s4[2,3]{1,0:E(4)}"
    wide = xl.zeros((2, 3), dtype="?", layout="{0,1:E(32)}")
    assert str(xl.eval(wide | wide).spec) == "pred[2,3]{0,1:E(32)}"


def test_saving_writes_the_elements(tmp_path: Path) -> None:
    xl.save(tmp_path / "a.npy", tiled())
    assert_same_bits(np.load(tmp_path / "a.npy"), VALUES)
    xl.save(tmp_path / "v.npy", tiled()[::-1, 1:])
    assert_same_bits(xl.load(tmp_path / "v.npy"), VALUES[::-1, 1:])


def test_printing() -> None:
    assert repr(tiled()) == repr(xl.asarray(VALUES))
    assert repr(tiled()[1:, ::2]) == repr(xl.asarray(VALUES)[1:, ::2])
    assert "..." in repr(xl.zeros((100, 100), layout="{1,0:T(8,128)}"))
