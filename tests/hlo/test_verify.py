"""Shapes of results: one good line and one bad line per rule of each operation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import xarraylite as xl
from tests.cases import together
from tests.hlo.mutations import DATA
from xarraylite.hlo.rules.inference import RULES

pytestmark = pytest.mark.once

HEADER = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
iadd { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = compare(a, b), direction=LT }
neg { a = f32[] parameter(0)  ROOT c = f32[] negate(a) }
body { a = f32[4] parameter(0)  ROOT c = f32[4] negate(a) }
test { a = f32[4] parameter(0)  ROOT c = pred[] constant(false) }
step { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = (f32[], f32[]) tuple(a, b) }
ENTRY e {
  s = f32[] parameter(0)
  v = f32[4] parameter(1)
  m = f32[4,6] parameter(2)
  q = f32[4,4] parameter(3)
  c = c64[4,6] parameter(4)
  i = s32[4] parameter(5)
  n = s32[] parameter(6)
  t = pred[4,6] parameter(7)
  o = pred[] parameter(8)
  u = u32[4,6] parameter(9)
  k = f32[3,3,6,8] parameter(10)
  x = f32[2,9,9,6] parameter(11)
  tok = token[] after-all()
  pair = (f32[], s32[4]) tuple(s, i)
  at = (s32[]) tuple(n)
  ats = ((s32[]), (s32[])) tuple(at, at)
  two = (f32[4], s32[4]) all-reduce-start(v, i), to_apply=add
  wide = (f32[4,6], f32[8,6]) all-gather-start(m), dimensions={0}, replica_groups={{0,1}}
  moved = (f32[4], f32[4], u32[], u32[]) collective-permute-start(v), source_target_pairs={{0,1}}
  copied = (f32[4], f32[4], u32[]) copy-start(v)
  begun = ((f32[4]), f32[4]) async-start(v), calls=body
  sent = (f32[4], u32[], token[]) send(v, tok), channel_id=1
  had = (f32[4], u32[], token[]) recv(tok), channel_id=1
"""

RULES_TEXT = (DATA / "rules.txt").read_text(encoding="utf-8")
CASES = [block.splitlines() for block in RULES_TEXT.strip().split("\n\n")[1:]]


def module(line: str) -> xl.hlo.HloModule:
    extra = "  h = f32[2,6] slice(m), slice={[0:2], [0:6]}\n" if "(m, h," in line else ""
    return xl.hlo.parse(f"{HEADER}{extra}  ROOT r = {line} }}")


@together("good", [case[0] for case in CASES])
def test_what_keeps_the_rules_passes(good: str) -> None:
    made = module(good)
    assert made.verify() is made


# What a result is follows from nothing else.
OPAQUE = frozenset(
    {
        "async-start",
        "bitcast",
        "bitcast-convert",
        "broadcast",
        "collective-permute-start",
        "convert",
        "copy-start",
        "dynamic-reshape",
        "infeed",
        "iota",
        "recv",
        "reshape",
        "rng",
        "rng-bit-generator",
        "stochastic-convert",
    }
)


@together("good", [case[0] for case in CASES])
def test_a_shape_that_is_left_out_is_inferred_or_asked_for(good: str) -> None:
    match = re.fullmatch(r"(.*?) ([a-z0-9\-]+)(\(.*)", good)
    assert match is not None
    shape, opcode, rest = match.groups()
    if opcode in OPAQUE:
        with pytest.raises(xl.HloError, match="does not follow"):
            module(f"{opcode}{rest}")
    else:
        assert module(f"{opcode}{rest}").entry.root.shape.human_string() == shape


@together(("bad", "rule"), [case[1:] for case in CASES])
def test_what_breaks_a_rule_is_refused(bad: str, rule: str) -> None:
    opcode = re.search(r"(?:^|[\]) ])([a-z][a-z0-9\-]*)\(", bad)[1]  # type: ignore[index]
    if bad[0] not in "(" and not re.match(r"[a-z]+\d+\[|token|pred\[", bad):
        # Any shape will do: the rule is broken before it is looked at.
        with pytest.raises(xl.HloError, match=re.escape(rule)):
            module(bad)
        bad = f"f32[7,7,7] {bad}"
    with pytest.raises(xl.HloError, match=re.escape(rule)) as caught:
        module(bad).verify()
    assert caught.value.instruction == "r"
    assert f"{opcode}(" in str(caught.value)


SHARED = """HloModule m, input_output_alias={ {1}: (0, {0}) }, buffer_donor={ (1, {}) }
    ENTRY e { a = (f32[2], f32[2]) parameter(0)  b = f32[2] parameter(1)
    ROOT c = (f32[2], f32[2]) custom-call(b, a), custom_call_target="t",
    output_to_operand_aliasing={{0}: (0, {}), {1}: (1, {1})} }"""


@pytest.mark.parametrize(
    ("given", "wrong", "rule"),
    [
        ("(0, {0}) }", "(2, {0}) }", "^input_output_alias names operand 2 of 2"),
        ("(0, {0}) }", "(0, {2}) }", r"^input_output_alias names a part \{2\} of \(f32"),
        ("(1, {}) }", "(1, {0}) }", r"^buffer_donor names a part \{0\} of f32\[2\]"),
        ("(1, {1})", "(2, {1})", "^c: output_to_operand_aliasing names operand 2 of 2"),
        ("{1}: (1", "{1,0}: (1", r"^c: output_to_operand_aliasing names a part \{1,0\}"),
    ],
)
def test_what_shares_memory_is_there(given: str, wrong: str, rule: str) -> None:
    xl.hlo.parse(SHARED).verify()
    with pytest.raises(xl.HloError, match=rule):
        xl.hlo.parse(SHARED.replace(given, wrong)).verify()


def test_every_rule_has_a_case() -> None:
    shown = {re.search(r" ([a-z][a-z0-9\-]*)\(", case[0])[1] for case in CASES}  # type: ignore[index]
    assert set(RULES) == shown


def test_inferred_shapes_have_xlas_layouts() -> None:
    made = xl.hlo.parse(
        "ENTRY e { p = f32[4,6]{0,1:T(8,128)} parameter(0)  d = f32[<=4,6]{0,1} parameter(1)"
        "  a = tanh(p)  b = transpose(p), dimensions={1,0}  c = add(d, d)  f = compare(p, p),"
        " direction=EQ  g = concatenate(p, p), dimensions={0}  h = tuple(p, d) }"
    )
    assert [str(i.shape) for i in made.entry][2:] == [
        "f32[4,6]{0,1:T(8,128)}",
        "f32[6,4]{1,0:T(8,128)}",
        "f32[<=4,6]{0,1}",
        "pred[4,6]{0,1:T(8,128)}",
        "f32[8,6]{1,0}",
        "(f32[4,6]{0,1:T(8,128)}, f32[<=4,6]{0,1})",
    ]


@together(
    ("operands", "call", "shape"),
    [
        ("f16[2,3] bf16[3,2]", "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
         "bf16[2,2]"),
        ("u32[3] s32[3]", "dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "s32[]"),
        ("s64[3] f32[3]", "dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "f32[]"),
        ("f8e4m3fn[3] f8e5m2[3]", "dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
         "f8e5m2[]"),
        ("pred[<=3] f32[3]", "select(a, b, b)", "f32[<=3]"),
        ("f32[8,<=8] f32[]", "reduce-window(a, b), window={size=2x2}, to_apply=add",
         "f32[7,<=7]"),
        ("f32[<=8,9,2] f32[3,2,4]", "convolution(a, b), window={size=3}, dim_labels=b0f_0io->b0f",
         "f32[<=8,7,4]"),
        ("f32[<=64,48] s64[<=32]", """gather(a, b), offset_dims={0}, collapsed_slice_dims={1},
         start_index_map={1}, index_vector_dim=1, slice_sizes={64,1}""", "f32[<=64,<=32]"),
    ],
)  # fmt: skip
def test_inferred_shapes_have_xlas_types_and_bounds(operands: str, call: str, shape: str) -> None:
    first, second = operands.split()
    made = xl.hlo.parse(
        "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }"
        f"ENTRY e {{ a = {first} parameter(0)  b = {second} parameter(1)  ROOT r = {call} }}"
    )
    assert made.verify().entry.root.shape.human_string() == shape


THREADS = """
f { a = f32[2] parameter(0)  ROOT b = f32[2] negate(a) }%s
ENTRY e {
  x = f32[2] parameter(0)
  u = u32[] parameter(1)
  t = (f32[2], f32[2], u32[]) tuple(x, x, u)
  c = (f32[2], f32[2], u32[]) copy-start(x)
  d = f32[2] copy-done(c)
  g = f32[2] call(d), to_apply=f
}"""


def test_what_is_started_ends_once_on_the_same_thread() -> None:
    xl.hlo.parse(THREADS % "").verify()
    with pytest.raises(xl.HloError, match=r"^g: calls f of the thread t on main"):
        xl.hlo.parse(THREADS % ', execution_thread="t"').verify()
    with pytest.raises(xl.HloError, match=r"^d: copy-done takes what copy-start gives, not tuple"):
        xl.hlo.parse((THREADS % "").replace("done(c)", "done(t)")).verify()
    with pytest.raises(xl.HloError, match=r"^c: copy-start is used 2 times"):
        xl.hlo.parse((THREADS % "").replace("call(d)", "call(f32[2] copy-done(c))")).verify()


def test_the_header_fits_the_entry() -> None:
    text = (
        "HloModule m, entry_computation_layout={{({})->{}}}\nENTRY e {{ a = f32[2] parameter(0) }}"
    )
    xl.hlo.parse(text.format("f32[2]{0:T(256)}", "f32[2]")).verify()
    with pytest.raises(xl.HloError, match="has 0 parameters, e 1"):
        xl.hlo.parse(text.format("", "f32[2]")).verify()
    with pytest.raises(xl.HloError, match=r"says f32\[3\] where e has f32\[2\]"):
        xl.hlo.parse(text.format("f32[2]", "f32[3]")).verify()


def test_unknown_things_pass() -> None:
    line = 'f32[7] custom-call(m, t), custom_call_target="x", novelty={1}'
    assert module(line).verify()


@together("path", sorted(DATA.glob("*.hlo.txt")), ids=lambda path: path.name)
def test_programs_verify(path: Path) -> None:
    made = xl.hlo.parse(path.read_text(encoding="utf-8"))
    assert made.verify() is made
