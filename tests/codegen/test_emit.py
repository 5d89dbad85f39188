"""Kernels' IR: what it may consist of, what becomes of it, and that plans are as reviewed.

The files in ``golden`` hold the plan of representative expressions, and of each kernel what it
calls and how often it touches memory.  Whoever changes the planner or the emitter runs this file
with ``--regenerate-golden`` and looks at the difference: lost fusion, a new temporary or one more
pass over memory shows there.
"""

from __future__ import annotations

import itertools
import re
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.compiler.golden_cases import CASES, explanation, text
from xarraylite.codegen import jit, kernel, machine, routines, worker
from xarraylite.codegen.emit import routine
from xarraylite.codegen.emit.body import Apply, Body, Const, Instruction, Load, Position, invariant
from xarraylite.codegen.emit.builder import Builder, Module
from xarraylite.codegen.emit.folding import Form, ReduceSpec
from xarraylite.codegen.emit.hard import Near
from xarraylite.codegen.emit.mapping import LONG, MapSpec, Mode, emit_map
from xarraylite.codegen.emit.memory import fetch, keep
from xarraylite.codegen.emit.reduction import emit_reduce
from xarraylite.codegen.emit.segments import SegmentSpec, emit_segments
from xarraylite.codegen.emit.streams import Access, Inner, MultiIndex, Operand, Words
from xarraylite.codegen.emit.tokens import token
from xarraylite.codegen.host import host
from xarraylite.dtypes.names import SUPPORTED, dtype_name
from xarraylite.ops.reductions import MAX, REDUCTIONS, SUM
from xarraylite.ops.table import OPS

GOLDEN = Path(__file__).with_name("golden")
F64 = np.dtype(np.float64)
I64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)

# --- golden files --------------------------------------------------------------------------------


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", CASES)
def test_plans_and_kernels_are_as_reviewed(name: str, request: pytest.FixtureRequest) -> None:
    xl.cache_clear()  # a loop that views results has them computed first
    path, found = GOLDEN / f"{name}.txt", text(name)
    if request.config.getoption("--regenerate-golden"):
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8"), "see the docstring of this module"


def test_every_golden_file_has_a_case(request: pytest.FixtureRequest) -> None:
    strangers = {path.stem for path in GOLDEN.iterdir()} - set(CASES)
    if request.config.getoption("--regenerate-golden"):
        for name in strangers:
            (GOLDEN / f"{name}.txt").unlink()
        return
    assert strangers == set()


# --- only tokens of our own ----------------------------------------------------------------------

_KEYWORDS = """
    define i32 @kernel i64 block nounwind mustprogress willreturn entry br label ret
    prefer vector width vectorize enable false
    inttoptr ptr to getelementptr load store align alias scope noalias nontemporal add sub
    mul sdiv srem and or xor shl lshr ashr nsw icmp fcmp slt sle sgt eq ne ult ugt ogt olt
    uno select phi alloca i1 i8 i16 x float double insertvalue extractvalue poison
    zeroinitializer trunc zext sext call fence seq_cst ptrtoint distinct llvm loop unroll
    disable interleave count xarraylite src dst tmp insertelement extractelement
    shufflevector fadd fmul kernel turned declare void prefetch memcpy p0 freeze
"""
NUMBERED = re.compile(r"(v|l|s|loop|next|done|while|go|then|end|else|start|failed|fine|j)\d*")
WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def strange_names(source: str) -> set[str]:
    """Words in a kernel's IR that are neither LLVM's, nor numbered, nor what the kernel calls."""
    words = {*WORD.findall(source)}  # few, each of which stands there many times
    return {w for w in words - _known() if not NUMBERED.fullmatch(w)}


@cache
def _known() -> set[str]:
    tokens = [token(dtype) for dtype in SUPPORTED]
    storage = {name for t in tokens for name in (t.decode, t.encode, t.settle)}
    conversions = {f"to_{t.value}" for t in tokens}
    operations = {f"{way}{name}" for way in ("", "hard_", "near_") for name in OPS}
    operations |= {f"fold_{name}" for name in REDUCTIONS}
    others = {"collect_error", "compensate", "entry", "launch", "user", "i32", "i64"}
    return {*_KEYWORDS.split()} | storage | conversions | operations | others


@pytest.mark.usefixtures("compiled")
@together("name", CASES)
def test_ir_consists_of_our_own_tokens(name: str) -> None:
    for source in explanation(name).sources:
        assert strange_names(source) == set()
        assert source.isascii()


@pytest.mark.usefixtures("compiled")
@together("name", ["__import__", "os", "exec", "block", "v0", "x);import os;("])
def test_no_name_of_a_user_gets_into_ir(name: str) -> None:
    def scalar(x: float) -> float:
        return x * 2

    scalar.__name__ = scalar.__qualname__ = name
    e = xl.vectorize(scalar)(xl.ones(3)) + 1
    (source,) = xl.explain(e).sources
    assert strange_names(source) == set()
    if name not in ("block", "v0"):
        assert name not in source
    assert e.numpy().tolist() == [3.0] * 3


def test_the_check_can_fail() -> None:
    assert strange_names("define i32 @system(ptr %os)") == {"system", "os"}


@pytest.mark.usefixtures("compiled")
def test_ir_is_deterministic() -> None:
    assert text("softmax") == text("softmax")
    assert xl.explain(xl.ones(3) + 1).sources == xl.explain(xl.ones(3) + 1).sources


# --- every kernel becomes vectors ----------------------------------------------------------------


def optimised(module: Module) -> str:
    text = routines.assembled(module)
    return str(worker.run(lambda: machine._optimised(text, host())))


def operands(dtype: Any, *rest: Inner) -> tuple[Operand, ...]:
    """A destination and operands apart from it."""
    first = Operand(np.dtype(dtype), Inner.UNIT, Access.SHARED)
    return (first, *[Operand(np.dtype(dtype), inner, Access.APART) for inner in rest])


def loop_of(op: str, dtype: Any, mode: Mode = Mode.DIRECT, outer: int = 1) -> MapSpec:
    """A kernel that applies an operation to contiguous operands."""
    kind, arity = np.dtype(dtype), OPS[op].arity
    loads = [Load(k, kind) for k in range(arity)]
    _, result = OPS[op].rule(op, (kind,) * arity)
    step = Apply(OPS[op], tuple(range(arity)), (kind,) * arity, result)
    to = Operand(result, Inner.UNIT, Access.SHARED)
    several = (to, *operands(dtype, *[Inner.UNIT] * arity)[1:])
    return MapSpec(mode, outer, several, Body((*loads, step)), 0)


_STRAIGHT = """
    add multiply divide sqrt maximum floor sign exp log sin tan atan2 asinh tanh pow cbrt
    logaddexp less isnan
"""


@together("dtype", ["float64", "float32", "bfloat16"])
@together("op", _STRAIGHT.split())
def test_a_loop_over_an_operation_is_vectorised(op: str, dtype: str) -> None:
    kind = next(d for d in SUPPORTED if dtype_name(d) == dtype)
    assert re.search(r"store <\d+ x", optimised(emit_map(loop_of(op, kind))))


@together(
    ("ops", "mode"),
    [
        *itertools.product(["sin", "sin cos", "exp exp"], [Mode.STAGED, Mode.NONTEMPORAL]),
        *itertools.product(["sin", "sin exp log tan", "sin cos tan tan"], [Mode.DIRECT]),
    ],
)
def test_what_tries_several_functions_is_vectorised(ops: str, mode: Mode) -> None:
    """Both loops: for what is hard to none of them, and for all arguments."""
    names = ops.split()
    steps: list[Any] = [Load(k, F64) for k in range(len(names))]
    steps += [Apply(OPS[name], (k,), (F64,), F64) for k, name in enumerate(names)]
    last = len(names)
    for k in range(last + 1, 2 * last):
        steps.append(
            Apply(OPS["add"], (last if k == last + 1 else len(steps) - 1, k), (F64,) * 2, F64)
        )
    spec = MapSpec(
        mode, 1, operands(F64, *[Inner.UNIT] * last), Body(tuple(steps)), 0, near=Near.MANY
    )
    found = optimised(emit_map(spec))
    loops = re.findall(r"^vector\.body\d*:.*?^  br ", found, re.MULTILINE | re.DOTALL)
    assert len(loops) >= 2
    if spec.body.cost >= LONG:  # what one vector waits for, the other one uses
        assert [len(re.findall(r"store <\d+ x double>", loop)) for loop in loops[:2]] == [2, 1]


def test_hard_arguments_have_the_bits_of_the_code_for_all() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 3000)) * 10.0 ** rng.integers(-9, 3, (2, 3000))
    for hard in (np.nan, np.inf, -np.inf, 1e9, 1e300, -3e5, 5e-324, 0.0, -0.0):
        a[rng.integers(0, 2000, 9)] = b[rng.integers(1000, 3000, 9)] = hard
    calls = [("sin", (0,)), ("exp", (1,)), ("tan", (1,)), ("pow", (2, 3)), ("add", (4, 5))]
    steps = [Apply(OPS[name], args, (F64,) * len(args), F64) for name, args in calls]
    body, found = Body((Load(0, F64), Load(1, F64), *steps)), []
    for near in Near:
        spec = MapSpec(Mode.DIRECT, 0, operands(F64, Inner.UNIT, Inner.UNIT), body, 0, near=near)
        module = emit_map(spec)
        image = machine.compile_object(routines.assembled(module))
        out = np.empty(3000)
        addresses = [x.ctypes.data for x in (out, a, b)]
        block = np.array([0, 1, 0, 3000, *addresses])
        machine.load(near.name, image, kernel.called_by(module)).run(block.ctypes.data)
        found.append(out.view(np.int64))
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


@pytest.mark.parametrize(
    "mode", [Mode.DIRECT, Mode.STAGED, Mode.FALLING, Mode.NONTEMPORAL, Mode.TILED]
)
def test_every_mode_is_vectorised(mode: Mode) -> None:
    found = optimised(emit_map(loop_of("add", F64, mode)))
    assert re.search(r"fadd <\d+ x double>", found)
    assert ("nontemporal" in found) == (mode is Mode.NONTEMPORAL)


def fold_of(form: Form, op: Any = SUM, dtype: Any = F64, joins: bool = False) -> ReduceSpec:
    to = Operand(dtype, Inner.STILL if form is Form.ALONG else Inner.UNIT, Access.SHARED)
    body = Body((Load(0, dtype),))
    read = Operand(dtype, Inner.UNIT, Access.APART)
    return ReduceSpec(form, 1, 1, (to, read), body, op, 0, joins)


@together("form", Form)
@together("dtype", ["f8", "f4", "i8", "c16"])
def test_folds_are_vectorised(form: Form, dtype: str) -> None:
    found = optimised(emit_reduce(fold_of(form, SUM, np.dtype(dtype))))
    assert re.search(r"f?add (nsw )?<\d+ x (double|float|i64)>", found)


@pytest.mark.parametrize("op", ["any", "all"])
@pytest.mark.parametrize("test", ["equal", "not_equal", "bitwise_and"])
def test_folds_of_truth_values_are_vectorised(op: str, test: str) -> None:
    read = (Load(0, BOOL), Load(1, BOOL), Apply(OPS[test], (0, 1), (BOOL, BOOL), BOOL))
    spec = ReduceSpec(
        Form.ALONG, 0, 0, operands("?", Inner.UNIT, Inner.UNIT), Body(read), REDUCTIONS[op], 0
    )
    loaded = {int(n) for n in re.findall(r"load <(\d+) x i8>", optimised(emit_reduce(spec)))}
    assert max(loaded) >= 16


@pytest.mark.parametrize("mode", [Mode.DIRECT, Mode.NONTEMPORAL])
@pytest.mark.parametrize("computes", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "u1"])
def test_what_is_not_chosen_is_read(dtype: str, computes: bool, mode: Mode) -> None:
    """Loads under a mask of memory that was never touched take 100 ns, each time."""
    kind = np.dtype(dtype)
    steps: list[Instruction] = [Load(0, BOOL), Load(1, kind), Load(2, kind)]
    if computes:
        steps += [Apply(OPS["multiply"], (2, 2), (kind, kind), kind)]
    chosen_from = (BOOL, kind, kind)
    body = Body((*steps, Apply(OPS["where"], (0, 1, len(steps) - 1), chosen_from, kind)))
    chosen = Operand(BOOL, Inner.UNIT, Access.APART)
    to, *values = operands(kind, Inner.UNIT, Inner.UNIT)
    found = optimised(emit_map(MapSpec(mode, 1, (to, chosen, *values), body, 0)))
    vector = rf"<\d+ x {routine.LLVM[token(kind).value]}>"
    held = {*re.findall(rf"(%\S+) = (?:freeze|call) {vector}", found)}
    used = re.findall(rf"= f?mul (?:nuw |nsw )*{vector} (%\S+), (%\S+)", found)
    if not computes:
        used = re.findall(rf"= select <.*?> %\S+, {vector} (%\S+), {vector} (%[^\s,]+)", found)
    assert used
    assert held >= {*itertools.chain(*used)}
    # LLVM reads memory under a mask there, of what a ``freeze`` alone keeps apart.
    assert ('asm ""' in found) == (host().level == "x86-64-v4")


def test_folds_of_segments_are_vectorised() -> None:
    fold = fold_of(Form.ALONG, MAX)
    spec = SegmentSpec(ReduceSpec(Form.ALONG, 0, 0, fold.operands, fold.body, MAX, 0))
    assert re.search(r"fcmp ogt <\d+ x double>", optimised(emit_segments(spec)))


def test_no_value_is_contracted_or_reassociated() -> None:
    kind = np.dtype(float)
    loads = tuple(Load(k, kind) for k in range(3))
    product = Apply(OPS["multiply"], (0, 1), (kind, kind), kind)
    total = Apply(OPS["add"], (3, 2), (kind, kind), kind)
    spec = MapSpec(
        Mode.DIRECT, 0, operands(kind, *[Inner.UNIT] * 3), Body((*loads, product, total)), 0
    )
    found = optimised(emit_map(spec))
    assert re.search(r"fmul <", found)
    assert re.search(r"fadd <", found)
    assert not re.search(r"\b(fma|fmuladd|fast|contract|reassoc|nnan|ninf|nsz|arcp|afn)\b", found)


# --- values in memory ----------------------------------------------------------------------------


def run(b: Builder, block: np.ndarray[Any, Any]) -> int:
    code = machine.load("test", machine.compile_object(routines.assembled(b.module())))
    return code.run(block.ctypes.data)


@together("storage", sorted({token(d).memory for d in SUPPORTED}))
def test_what_is_kept_is_fetched(storage: str) -> None:
    size = {"c64": 8, "c128": 16, "b1": 1}.get(storage) or int(storage[1:]) // 8
    block = np.zeros(64, np.uint8)
    raw = np.arange(3, 3 + size, dtype=np.uint8) if storage != "b1" else np.ones(1, np.uint8)
    block[size : 2 * size] = raw
    b = Builder()
    keep(b, storage, fetch(b, storage, b.block, 1, "src"), b.block + 32, b.integer(1), "dst")
    assert run(b, block) == 0
    assert block[32 + size : 32 + 2 * size].tolist() == raw.tolist()
    assert block[32 : 32 + size].tolist() == [0] * size


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_packed_elements_keep_their_neighbours(bits: int) -> None:
    per = 8 // bits
    for place in range(2 * per):
        block = np.array([0x5A, 0xA5, 0xFF, 0x00], np.uint8)
        b = Builder()
        address = b.block * per
        code = fetch(b, f"packed{bits}", address, place, "src")
        keep(b, f"packed{bits}", code, address + 2 * per, place, "dst")
        assert run(b, block) == 0
        digits = [int(byte) >> bits * k & (1 << bits) - 1 for byte in block for k in range(per)]
        expected = [(1 << bits) - 1] * per + [0] * per
        expected[place] = digits[place]
        assert digits[2 * per :] == expected


def test_one_bit_is_a_truth() -> None:
    block = np.array([0b0100, 0], np.uint8)
    b = Builder()
    for k in range(4):
        keep(b, "truth1", fetch(b, "truth1", b.block * 8, k, "src"), b.block * 8 + 8, k, "dst")
    assert run(b, block) == 0
    assert block.tolist() == [0b0100, 0b0100]


# --- control flow --------------------------------------------------------------------------------


def test_loops_branches_and_variables() -> None:
    """Collatz steps, and a sum over a range with a step, against Python."""
    b = Builder()
    start = fetch(b, "i64", b.block, 0, "src")
    at, steps, total = b.local(start), b.local(0), b.local(0)
    with b.repeat() as loop:
        b.stop_unless(loop, at.get() > 1)
        with b.either((at.get() & 1).equals(1)) as otherwise:
            at.set(at.get() * 3 + 1)
            otherwise()
            at.set(at.get() // 2)
        steps.add(1)
    with b.loop(2, start, 3) as j:
        with b.when((j % 2).equals(0)):
            total.add(j)
    with b.loop(start, 5) as j:
        total.add(j * 1000)
    keep(b, "i64", steps.get(), b.block, 1, "dst")
    keep(b, "i64", total.get().greatest(start.least(7)), b.block, 2, "dst")
    code = machine.load("collatz", machine.compile_object(routines.assembled(b.module())))
    for n in (1, 2, 3, 4, 27, 97):
        block = np.array([n, 0, 0])
        assert code.run(block.ctypes.data) == 0
        count, k = 0, n
        while k > 1:
            k, count = (3 * k + 1 if k % 2 else k // 2), count + 1
        summed = sum(j for j in range(2, n, 3) if j % 2 == 0) + 1000 * sum(range(n, 5))
        assert block.tolist() == [n, count, max(summed, min(n, 7))]


@together("value", [-1000, -8, -7, -1, 0, 1, 7, 8, 1000])
def test_division_by_powers_of_two_rounds_down(value: int) -> None:
    block = np.array([value, 0, 0])
    b = Builder()
    n = fetch(b, "i64", b.block, 0, "src")
    keep(b, "i64", n // 8, b.block, 1, "dst")
    keep(b, "i64", n % 8, b.block, 2, "dst")
    assert run(b, block) == 0
    assert block[1:].tolist() == [value // 8, value % 8]


# --- small parts ---------------------------------------------------------------------------------


@together("dtype", SUPPORTED)
def test_every_token_is_a_type_or_function_of_ours(dtype: Any) -> None:
    names = token(dtype)
    assert names.value in routine.LLVM
    assert names.memory in routine.LLVM
    assert names.itemsize == dtype.itemsize
    for function in (names.decode, names.encode, names.settle):
        assert not function or function in jit.scalar_library()


def test_words_are_numbered_in_order() -> None:
    words = Words()
    words.add("t0", "t1")
    words.add("p0")
    assert (words.index, len(words)) == ({"t0": 0, "t1": 1, "p0": 2}, 3)


def test_a_multi_index_visits_every_position() -> None:
    """Started anywhere, each step ends where a start would."""
    extents, strides = (2, 3, 4), (100, 10, 1)
    b = Builder()
    block = np.array([0, 0, 7, *extents, *strides, *[0] * 24])
    names = [
        "first",
        "steps",
        "p0",
        *[f"n_t{d}" for d in range(3)],
        *[f"s0_t{d}" for d in range(3)],
    ]
    words = {name: fetch(b, "i64", b.block, k, "src") for k, name in enumerate(names)}
    pointer = b.local(words["p0"])
    loops = MultiIndex.at(b, "t", 3, words, {0: pointer}, words["first"])
    with b.loop(0, words["steps"]) as k:
        keep(b, "i64", pointer.get(), b.block, k + 9, "dst")
        loops.step()
    code = machine.load("counter", machine.compile_object(routines.assembled(b.module())))
    expected = [7 + 100 * i + 10 * j + k for i in range(2) for j in range(3) for k in range(4)]
    for first in range(24):
        block[:2] = first, 24 - first
        assert code.run(block.ctypes.data) == 0
        assert block[9 : 33 - first].tolist() == expected[first:]


def test_what_does_not_move_is_computed_before_the_loop() -> None:
    add = OPS["add"]
    body = Body(
        (
            Load(0, F64),
            Const(0, F64),
            Apply(add, (0, 1), (F64, F64), F64),
            Load(1, F64),
            Position(2, np.dtype(np.int64)),
            Load(0, F64, ((4, 0),)),
            Apply(add, (2, 3), (F64, F64), F64),
        )
    )
    assert invariant(body, [True, False, False]) == {0, 1, 2}
    assert invariant(body, [True, False, True]) == {0, 1, 2, 4, 5}
    assert invariant(body, [False, False, False]) == {1}


@together("mode", Mode)
def test_every_mode_has_its_words(mode: Mode) -> None:
    """Every word that the kernel reads is in the block, and every word of the block is read."""
    several = (
        Operand(F64, Inner.UNIT, Access.SHARED),
        Operand(F64, Inner.ANY, Access.APART),
        Operand(I64, Inner.ANY, Access.POSITION),
    )
    body = Body((Load(0, F64), Const(0, F64), Apply(OPS["add"], (0, 1), (F64, F64), F64)))
    spec = MapSpec(mode, 2, several, body, 0)
    read = [int(k) for k in re.findall(r"add i64 %block, (\d+)", emit_map(spec).text)]
    assert read == [8 * k for k in range(1, len(spec.words()))]


# --- elements that lie apart ---------------------------------------------------------------------


@pytest.mark.usefixtures("compiled")
@together("dtype", ["float64", "float32", "uint8", "complex64", "bfloat16"])
@together("n", [1, 7, 300, 3001])
def test_elements_that_lie_apart_are_stored_one_by_one(n: int, dtype: str) -> None:
    """What is cheap at once, what vectors are worth for by way of scratch: the same bits."""
    values = (np.arange(3 * n) % 50 + 1).astype(np.float32)
    a, o = xl.asarray(values[:n], dtype), xl.zeros(3 * n, dtype)
    places = [np.s_[::3], np.s_[1::3], np.s_[-1 : -n - 1 : -1]]
    for place, wanted in product(places, (a, a + 1, xl.sqrt(a * a), xl.where(a > 4, a, a * 2))):
        if wanted.dtype != o.dtype:
            continue
        o[...] = 0
        o[place] = wanted
        expected = np.zeros(3 * n, o.copy().numpy().dtype)
        expected[place] = np.asarray(xl.eval(wanted))
        assert o.copy().numpy().tobytes() == expected.tobytes()
        o[place] += o[place] * 1
        assert np.array_equal(np.asarray(o[place].copy()), np.asarray(xl.eval(wanted + wanted)))
    hints = [s.count("vectorize.enable") for s in xl.explain(o[::3], a * 1 + 1).sources]
    assert n == 1 or all(hints)
