"""Instructions, computations and modules: frozen graphs, walks, and edits that make new ones."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from types import MappingProxyType

import pytest

import xarraylite as xl
from xarraylite.hlo import HloComputation, HloInstruction, HloModule
from xarraylite.hlo.opcodes import OPCODES

pytestmark = pytest.mark.once

F32 = xl.ArraySpec.parse("f32[]")
TEXT = """HloModule m
f { a = f32[] parameter(0)  ROOT b = f32[] negate(a) }
g { c = f32[] parameter(0)  ROOT d = f32[] call(c), to_apply=f }
ENTRY e {
  y = f32[] parameter(1)
  x = f32[] parameter(0)
  s = f32[] subtract(x, y)
  p = f32[] multiply(s, s), control-predecessors={y}
  ROOT r = f32[] call(p), to_apply=g
}"""


def parameter(name: str, number: int) -> HloInstruction:
    given = MappingProxyType({"parameter_number": number})
    return HloInstruction(name, "parameter", F32, attributes=given)


def names(items: object) -> list[str]:
    return [item.name for item in items]  # type: ignore[attr-defined]


# The graph.


def test_users_are_known_once_each() -> None:
    module = xl.hlo.parse(TEXT)
    assert names(module.find("s").users) == ["p"]
    assert names(module.find("y").users) == ["s"]
    assert module.find("s").computation is module.entry
    assert module.find("r").is_root
    assert not module.find("s").is_root
    assert names(module.find("p").control_predecessors) == ["y"]


def test_nothing_can_be_assigned() -> None:
    module = xl.hlo.parse(TEXT)
    for thing in (module, module.entry, module.entry.root):
        with pytest.raises(dataclasses.FrozenInstanceError):
            thing.name = "z"  # type: ignore[misc]
    with pytest.raises(TypeError):
        module.entry.root.attributes["x"] = 1  # type: ignore[index]


def test_a_program_is_made_of_objects_too() -> None:
    a = parameter("a", 0)
    b = HloInstruction("b", "negate", F32, (a,))
    module = HloModule("m", (HloComputation("f", (a, b)),)).verify()
    assert module.entry.root is b
    assert xl.hlo.parse(str(module)).to_text() == str(module).replace(
        "HloModule m", "HloModule m, entry_computation_layout={(f32[])->f32[]}"
    )


def test_what_does_not_fit_is_refused() -> None:
    a, other = parameter("a", 0), parameter("o", 0)
    b = HloInstruction("b", "negate", F32, (other,))
    with pytest.raises(xl.HloError, match="b: operand o does not stand before it in f"):
        HloComputation("f", (a, b))
    with pytest.raises(xl.HloError, match=r"have the numbers \[0, 0\]; expected 0 to 1"):
        HloComputation("f", (a, other))
    with pytest.raises(xl.HloError, match="computation f has no instructions"):
        HloComputation("f", ())
    f = HloComputation("f", (a,))
    with pytest.raises(xl.HloError, match="a: belongs to a computation already"):
        HloComputation("g", (a,))
    with pytest.raises(xl.HloError, match="the root o is no instruction of g"):
        HloComputation("g", (parameter("a", 0),), other)
    call = HloInstruction("c", "call", F32, (), called_computations=(f,))
    with pytest.raises(xl.HloError, match="c: f does not stand before g, which calls it"):
        HloModule("m", (HloComputation("g", (call,)), f))
    with pytest.raises(xl.HloError, match="module m has no computations"):
        HloModule("m", ())
    with pytest.raises(xl.HloError, match="constant calls 0 computations, not one"):
        _ = HloInstruction("c", "constant", F32).to_apply


def test_there_are_all_of_xlas_opcodes() -> None:
    assert len(OPCODES) == 133
    hlo = pytest.importorskip("jaxlib._hlo")
    assert len(hlo.HloOpcode) == 133


def test_modules_are_pickled_and_copied_as_text() -> None:
    module = xl.hlo.parse(TEXT)
    for again in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        assert again is not module
        assert str(again) == str(module)


# Walks.


def test_definition_and_post_order() -> None:
    module = xl.hlo.parse(TEXT)
    assert names(module.entry) == ["y", "x", "s", "p", "r"]
    assert names(module.entry.post_order()) == ["y", "x", "s", "p", "r"]
    free = xl.hlo.parse("f { a = f32[] parameter(0) b = f32[] parameter(1) s = subtract(b, a) }")
    assert names(free.entry.post_order()) == ["b", "a", "s"]


def test_walks_begin_with_what_is_called() -> None:
    module = xl.hlo.parse(TEXT)
    assert names(module.post_order()) == ["f", "g", "e"]
    assert names(module.walk("call", "negate")) == ["b", "d", "r"]
    assert len(list(module.walk())) == 9


def test_find_takes_names_with_percent() -> None:
    module = xl.hlo.parse(TEXT)
    assert module.find("%b").name == "b"
    assert module.computation("%f").name == "f"
    assert module.entry["s"] is module.find("s")
    for missing in (lambda: module.find("z"), lambda: module.computation("z")):
        with pytest.raises(KeyError, match="module m has no"):
            missing()
    with pytest.raises(KeyError):
        module.entry["b"]


def test_a_long_chain_is_an_ordinary_program() -> None:
    lines = [f"i{k} = f32[] negate(i{k - 1})" for k in range(1, 20_001)]
    module = xl.hlo.parse("e { i0 = f32[] parameter(0)\n" + "\n".join(lines) + "}").verify()
    assert len(module.entry.post_order()) == 20_001


# Edits.


def test_edits_share_what_they_leave() -> None:
    module = xl.hlo.parse(TEXT)
    edited = module.replace(module.find("s"), opcode="add").verify()
    assert edited.find("s").opcode == "add"
    assert module.find("s").opcode == "subtract"
    assert edited.computation("f") is module.computation("f")
    assert edited.computation("g") is module.computation("g")
    inner = module.replace(module.find("b"), opcode="abs", name="q")
    assert inner.find("r").to_apply.root.to_apply.root.name == "q"
    assert inner.computation("g") is not module.computation("g")
    assert str(inner) == str(module).replace("%b = f32[] negate", "%q = f32[] abs")


def test_uses_are_replaced() -> None:
    module = xl.hlo.parse(TEXT)
    edited = module.replace_uses(module.find("s"), module.find("x"))
    assert names(edited.find("p").operands) == ["x", "x"]
    assert edited.remove(edited.find("s")).verify()
    doubled = module.replace_uses(module.find("r"), module.find("p"))
    assert doubled.entry.root.name == "p"
    with pytest.raises(xl.HloError, match="s: b stands in another computation"):
        module.replace_uses(module.find("s"), module.find("b"))


def test_what_replaces_an_instruction_may_be_made_of_it() -> None:
    module = xl.hlo.parse(TEXT)
    copy = HloInstruction("k", "copy", F32, (module.find("s"),))
    with_copy = module.insert(copy, before=module.find("p"))
    edited = with_copy.replace_uses(with_copy.find("s"), with_copy.find("k")).verify()
    assert names(edited.find("k").operands) == ["s"]
    assert names(edited.find("p").operands) == ["k", "k"]


def test_a_changed_entry_has_the_layouts_of_its_shapes() -> None:
    module = xl.hlo.parse("e { a = f32[2] parameter(0) }")
    edited = module.replace(module.find("a"), shape=xl.ArraySpec.parse("f32[3]{0:T(256)}"))
    assert [str(p) for p in edited.verify().signature.parameters] == ["f32[3]{0:T(256)}"]


def test_edits_that_break_the_graph_are_refused() -> None:
    module = xl.hlo.parse(TEXT)
    s, p, r = module.find("s"), module.find("p"), module.find("r")
    before = str(module)
    with pytest.raises(xl.HloError, match="p: operand s does not stand before it"):
        module.remove(s)
    with pytest.raises(xl.HloError, match="r: the root cannot be removed"):
        module.remove(r)
    with pytest.raises(xl.HloError, match="s: operand p does not stand before it"):
        module.replace(s, operands=(p,))
    with pytest.raises(xl.HloError, match="b: the name is taken already"):
        module.replace(s, name="b")
    with pytest.raises(xl.HloError, match="s: colour is no field to change; there are name opcode"):
        module.replace(s, colour="red")
    with pytest.raises(xl.HloError, match="s: is no instruction of this module"):
        xl.hlo.parse(TEXT).replace(s, opcode="add")
    assert str(module) == before
