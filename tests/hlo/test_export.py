"""`to_hlo`: expressions and functions as modules that give the same numbers.

Trees of operations are compared with our own evaluation of the text. XLA's CPU compiler rewrites
some before it compiles (the guide page on HLO lists what was seen), so one function goes to it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.properties.trees import trees
from xarraylite.arrays.expression import apply
from xarraylite.ir.node import Gather, Leaf
from xarraylite.ir.walk import postorder
from xarraylite.memory.arrays import read
from xarraylite.operands.gathers import gathered_again
from xarraylite.ops.table import OPS
from xarraylite.testing.strategies import broadcastable_shapes, dtypes, samples

DTYPES = ("bool", "int32", "uint8", "float32", "bfloat16", "complex128")
BOUNDS = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 3e-6, "float64": 1e-12}
BOUNDS |= {"complex64": 1e-5, "complex128": 1e-11}
PLAIN = np.array([0.0, -0.0, 1, -1, 2, 0.5, 1.5, -2.5, 3, -3, 7, 100, np.inf, -np.inf, np.nan, 0.1])


def operand(dtype: str, shift: int) -> Any:
    known = xl.zeros(1, dtype=dtype).dtype
    values = np.roll(PLAIN, shift)
    if known.kind in "iu":
        values = np.clip(np.nan_to_num(np.trunc(values)), 0 if known.kind == "u" else -100, 100)
    if known.kind == "c":
        values = np.roll(PLAIN[2:11], shift) + 0.25j * PLAIN[2:11]
    return xl.asarray(values.astype(known))


def close(got: Any, want: Any) -> bool:
    x, y = np.asarray(got), np.asarray(want)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.dtype.kind in "iub":
        return bool(np.array_equal(x, y))
    bound = BOUNDS.get(str(y.dtype), 0.3)
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    x, y = x.astype(wide), y.astype(wide)
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= bound * (np.abs(y) + 1e-3)
    return bool(np.all((x == y) | (np.isnan(x) & np.isnan(y)) | near))


def operands(expression: Any) -> list[np.ndarray]:
    """The arrays that an expression's module takes: those in memory, in order of first use."""
    nodes = postorder(gathered_again(expression.node))
    inner = {id(arg) for node in nodes if isinstance(node, Gather) for arg in node.args[1:]}
    found = {}
    for node in nodes:
        if isinstance(node, Leaf) and id(node) not in inner:
            found.setdefault((id(node.snapshot), node.map), node)
    return [read(leaf.snapshot, leaf.dtype, leaf.map) for leaf in found.values()]


@pytest.mark.once
@pytest.mark.parametrize("name", [name for name in OPS if name != "cast"])
def test_operation(name):
    tested = 0
    with warnings.catch_warnings(), xl.config(engine="reference"):
        warnings.simplefilter("ignore")
        for dtype in DTYPES:
            args = [operand(dtype, 3 * k) for k in range(OPS[name].arity)]
            if name == "where":
                args[0] = xl.asarray(np.asarray(args[0]) != 0)
            try:
                expression = apply(OPS[name], *args)
            except xl.DTypeError:
                continue
            module = xl.to_hlo(expression)
            module.verify()
            assert close(module(*args), xl.eval(expression)), (dtype, str(module))
            tested += 1
    assert tested


@pytest.mark.parametrize(
    "name", ["float64", "bfloat16", "float8_e4m3fn", "float6_e2m3fn", "float4_e2m1fn"]
)
def test_negative_zeros_stay_negative_in_text(name: str) -> None:
    x = xl.asarray([1, 2], dtype=name)
    module = xl.to_hlo(xl.where(x > 1, x, np.asarray(-0.0).astype(x.dtype)[()]))
    found = xl.hlo.parse(str(module))(x)
    assert np.signbit(np.asarray(found).astype(np.float32)).tolist() == [True, False]


def test_complex_and_least_constants_are_read_as_they_were_written() -> None:
    z = xl.asarray([1, 2], dtype="complex64")
    for value in (complex(-0.0, 1), complex(1, -0.0)):
        module = xl.to_hlo(xl.where(z != 1, z, np.complex64(value)))
        found = np.asarray(xl.hlo.parse(str(module))(z))
        assert str(found[0]) == str(np.complex64(value))
    least = xl.asarray([2.0**-127, 2.0**-127], dtype="float8_e8m0fnu")
    assert float(xl.hlo.parse(str(xl.to_hlo(xl.max(least))))(least)) == 2.0**-127


@given(st.data())
def test_trees(data):
    with xl.config(engine="reference"):
        shapes = data.draw(broadcastable_shapes(2))
        leaves = [data.draw(samples(shape, data.draw(dtypes()))) for shape in shapes]
        tree = data.draw(trees(leaves, inexact=True))
        expression = tree.xl([leaf.operand for leaf in leaves])
        if isinstance(expression, xl.XExpression):
            module = xl.to_hlo(expression)
            module.verify()
            again = xl.hlo.parse(str(module.to_text("short_parsable")))
            assert close(again(*operands(expression)), xl.eval(expression)), str(module)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64", "complex64"])
def test_truth_values_become_floats_by_way_of_integers(dtype):
    """XLA would take their products for choices: 0 / 0 and 0 * inf would be 0."""
    x = xl.asarray([False, True])
    module = xl.to_hlo(xl.multiply(xl.astype(x, dtype), xl.asarray([np.inf, np.nan], dtype=dtype)))
    converted = [i.operands[0].shape.element_type.name for i in module.walk("convert")]
    assert "u8" in converted
    assert all(
        i.shape.element_type.name == "u8"
        for i in module.walk("convert")
        if i.operands[0].shape.element_type.name == "pred"
    )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_quotients_by_a_constant_0_are_those_of_the_parts(dtype):
    """XLA would multiply by the reciprocal, which makes NaN of infinity."""
    z = xl.asarray([-5 - 1j, 0, 2j, np.inf], dtype=dtype)
    module = xl.to_hlo(z / 0)
    assert all(i.shape.element_type.name in ("f32", "f64") for i in module.walk("divide"))
    assert np.array_equal(module(z), xl.eval(z / 0), equal_nan=True)
    assert [i.shape.element_type.name[0] for i in xl.to_hlo(z / 2).walk("divide")] == ["c"]


def test_scales_are_compared_as_float32():
    """XLA would compare what is not rounded: 0, which they do not have, instead of NaN."""
    x = xl.asarray([0.5, 2.0], dtype="float8_e8m0fnu")
    for expression in (x >= 0, xl.logical_not(x), x.astype(bool)):
        module = xl.to_hlo(expression)
        (compared,) = module.walk("compare")
        assert {operand.shape.element_type.name for operand in compared.operands} == {"f32"}
        assert np.array_equal(np.asarray(module(x)), np.asarray(xl.eval(expression)))


@pytest.mark.parametrize("shape", [(3, 0), (2, 1, 0)])
def test_picks_of_empty_memory(shape):
    x = xl.zeros(shape)
    for rows in ([0], [], np.array([[0, 1]])):
        expression = xl.cos(x[rows])
        found = xl.to_hlo(expression)(*operands(expression))
        assert found.shape == expression.shape


def test_function_with_views_and_several_results():
    def step(u, v):
        return u[1:-1, ::-2] + v, xl.sum(u, axis=0)

    module = xl.to_hlo(step, "f32[4,5]", "f32[3]", name="step")
    u = np.arange(20, dtype=np.float32).reshape(4, 5)
    v = np.ones(3, np.float32)
    first, second = module(u, v)
    assert module.name == "step"
    assert first.tolist() == (u[1:-1, ::-2] + v).tolist()
    assert second.tolist() == u.sum(0).tolist()


def test_jitted_function_closures_and_python_numbers():
    table = xl.asarray([1.0, 2.0, 4.0])
    module = xl.to_hlo(xl.jit(lambda x, n: x * table + n), table, 3)
    assert len(module.entry.parameters) == 1
    assert module(np.float64([1, 1, 2])).tolist() == [4, 5, 11]


def test_layouts_are_kept():
    tiled = xl.zeros((16, 256), dtype="float32", layout="{0,1:T(8,128)}")
    column = xl.zeros((2, 3), layout="column_major")
    for container in (tiled, column):
        module = xl.to_hlo(container + 1)
        assert module.entry.parameters[0].shape == container.spec


def test_diagonal_and_gather():
    a = xl.asarray(np.arange(9.0).reshape(3, 3))
    picked = xl.to_hlo(lambda x: x[:, [2, 0]] * 2, "f64[3,3]")
    assert picked(a).tolist() == (np.asarray(a)[:, [2, 0]] * 2).tolist()
    assert "gather" in [i.opcode for i in picked.entry]
    for few in (a[:, [2, 0]] * 2, xl.view(a, xl.keep(2, 0, 0)) + 1):  # which were copied
        assert "gather" in [i.opcode for i in xl.to_hlo(few).entry]


def test_extremes_of_what_is_not_nan():
    x = xl.asarray([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])
    for function in (xl.nanmax, xl.nanmin):
        module = xl.to_hlo(lambda a, function=function: function(a, axis=1), "f64[2,3]")
        np.testing.assert_array_equal(np.asarray(module(x)), np.asarray(function(x, axis=1)))


def test_refusals():
    def root(x: float) -> float:
        return x + 1

    with pytest.raises(xl.HloError, match="there is no HLO for"):
        xl.to_hlo(xl.vectorize(root)(xl.zeros(2)))
    with pytest.raises(xl.HloError, match="specs are given for a function's arguments"):
        xl.to_hlo(xl.zeros(2) + 1, "f64[2]")
    with pytest.raises(xl.TracedValueError):
        xl.to_hlo(lambda x: x * float(x[0]), "f64[2]")


def test_what_is_written_is_printed_as_it_is_read_again():
    """Orders have parts that nobody needs: numbers of elements, and comparators by dtypes."""

    def orders(a, unused):
        shares = xl.percentile(a, 30, axis=0), xl.median(a)
        return xl.sort(a, axis=0), xl.argsort(a, axis=1), *shares, xl.cumsum(a, axis=1)

    module = xl.to_hlo(orders, "f64[6,5]", "s32[3]").verify()
    text = module.to_text("short_parsable")
    assert xl.hlo.parse(text).to_text("short_parsable") == text
    assert all(i.users for i in module.entry.instructions[1:-1] if i.opcode != "parameter")
    assert [p.name for p in module.entry.parameters] == ["parameter.1", "parameter.2"]


def test_jaxlib_compiles_it_and_agrees():
    jax = pytest.importorskip("jax")
    xla = pytest.importorskip("jaxlib._hlo")
    extension = pytest.importorskip("jaxlib._jax")
    jax.config.update("jax_enable_x64", True)
    x = np.linspace(-3, 3, 24).reshape(4, 6)
    y = np.arange(6, dtype=np.int32)

    def model(a, b):
        z = xl.exp(-a * a)[:, ::-1] + b // 2 % 3
        return xl.sum(xl.where(z > 1, xl.asinh(z), z**3), axis=1), xl.max(z.T, axis=0)

    module = xl.to_hlo(model, "f64[4,6]", "s32[6]")
    text = module.to_text("short_parsable")
    proto = xla.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    devices = jax.local_devices(backend="cpu")[:1]
    program = devices[0].client.compile_and_load(
        extension.mlir.hlo_to_stablehlo(proto),
        extension.DeviceList(tuple(devices)),
        extension.CompileOptions(),
    )
    given_to_jax = [jax.device_put(values, devices[0]) for values in (x, y)]
    outputs = program.execute_sharded(given_to_jax).disassemble_into_single_device_arrays()
    for mine, want in zip(module(x, y), outputs, strict=True):
        assert close(mine, np.asarray(want[0]))


@pytest.mark.parametrize("name", ["isinf", "signbit", "isfinite", "isnan", "sign", "acosh"])
@together("dtype", ["float8_e8m0fnu", "float8_e5m2", "float8_e4m3fnuz", "float32"])
def test_functions_of_formats_without_zero_sign_or_infinity(name: str, dtype: str) -> None:
    values = np.array([-1e30, -5120.0, -2.0, 0.5, 1.0, 2.0, 5120.0, np.inf, np.nan], "float32")
    a = xl.asarray(values).astype(dtype)
    a = xl.eval(a)
    expression = getattr(xl, name)(a)
    found = np.asarray(xl.to_hlo(getattr(xl, name)(a))(a)).astype("float32")
    np.testing.assert_allclose(found, np.asarray(xl.eval(expression)).astype("float32"), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_the_sign_of_a_negative_zero_stays_positive(dtype: str) -> None:
    a = xl.eval(xl.asarray([0.0, -0.0, -2.0]).astype(dtype))  # HLO's sign would be negative
    found = np.asarray(xl.to_hlo(xl.sign(a))(a)).astype(np.float64)
    assert np.signbit(found).tolist() == [False, False, True]


#: Views of picked rows and columns.
PICKED: list[Any] = [
    lambda x: xl.flip(x[[0, 2]]),
    lambda x: x[[2, 0]].T * 2,
    lambda x: x[:, [1, 3]][::-1, ::-1],
    lambda x: x[[2, 1]][:, 1::2] * 1,
    lambda x: xl.reshape(x[[1]], (2, 2)) + 0,
    lambda x: x[[0, 0]][1] - 1,
    lambda x: xl.flip(x[np.zeros(0, int)]).T,
    lambda x: x[[0, 1]][:0, ::-1],
    lambda x: x[..., [1, 0]] * 1,
    lambda x: x[[2, 1], :] + 0,
    lambda x: x[[2, 1], ...] + 0,
    lambda x: x[:, np.zeros(0, int)],
]


@together("make", PICKED)
def test_views_of_picked_elements(make: Any) -> None:
    values = np.arange(12.0).reshape(3, 4)
    a = xl.asarray(values)
    found = np.asarray(xl.to_hlo(make(a))(a))
    assert np.array_equal(found, np.asarray(xl.eval(make(a))))
    again = xl.late(make(a))
    a *= 10
    assert np.array_equal(np.asarray(xl.eval(again)), np.asarray(xl.eval(make(a))))
