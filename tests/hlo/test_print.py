"""HLO text out: byte for byte what XLA prints."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.hlo.text.styles import PrintOptions

pytestmark = pytest.mark.once

DATA = Path(__file__).parent / "data"
FACTS: dict[str, Any] = json.loads((DATA / "prints.json").read_text(encoding="utf-8"))
STYLES = ["default", "short_parsable", "canonical", "fingerprint"]


def program(name: str) -> xl.hlo.HloModule:
    return xl.hlo.parse((DATA / name).read_text(encoding="utf-8"))


@together("name", sorted(FACTS["digests"]))
def test_programs_print_as_xla_prints_them(name: str) -> None:
    module = program(name)
    digests = {
        style: hashlib.sha256(module.to_text(style).encode()).hexdigest() for style in STYLES
    }
    assert digests == FACTS["digests"][name]


@together("name", sorted(FACTS["modules"]))
@pytest.mark.parametrize("style", STYLES)
def test_texts_print_as_xla_prints_them(name: str, style: str) -> None:
    case = FACTS["modules"][name]
    assert xl.hlo.parse(case["text"]).to_text(style) == case["prints"][style]


@together("row", FACTS["lines"])
def test_attributes_print_as_xla_prints_them(row: list[str]) -> None:
    line, default, fingerprint = row
    module = xl.hlo.parse(f"{FACTS['header']}{line}\n}}")
    for style, wanted in (("default", default), ("fingerprint", fingerprint)):
        entry = module.to_text(style).split("ENTRY")[1]
        assert f"ROOT {entry.split('  ROOT ')[1].rsplit(chr(10) + '}', 1)[0]}" == wanted


def contents(module: xl.hlo.HloModule) -> dict[str, Any]:
    """Everything but the order of instructions and the numbers of stack frames."""
    found: dict[str, Any] = {"": (module.name, module.entry.name, dict(module.attributes))}
    for computation in module.computations:
        if "wrapped" in computation.name and computation is not module.entry:
            continue
        found[f"computation {computation.name}"] = computation.root.name
        for instruction in computation.instructions:
            found[instruction.name] = (
                instruction.opcode,
                instruction.shape,
                [operand.name for operand in instruction.operands],
                dict(instruction.attributes),
                [
                    # An asynchronous operation is printed with what it wraps, under its own name.
                    callee.root.opcode if instruction.opcode.startswith("async-") else callee.name
                    for callee in instruction.called_computations
                ],
                [before.name for before in instruction.control_predecessors],
                instruction.metadata and instruction.metadata.with_frame(0),
            )
    return found


@together("name", sorted(FACTS["digests"]))
def test_what_is_printed_is_read_as_the_same_program(name: str) -> None:
    module = program(name)
    printed = module.to_text(print_large_constants=True)
    again = xl.hlo.parse(printed)
    assert contents(again) == contents(module)
    # XLA numbers stack frames in definition order, but prints fusions in post order: the numbers
    # settle with the second print.
    settled = again.to_text(print_large_constants=True)
    assert xl.hlo.parse(settled).to_text(print_large_constants=True) == settled


def test_options_have_xlas_names() -> None:
    module = xl.hlo.parse(
        "ENTRY e.1 { p.2 = f32[2,3] parameter(0)  ROOT a.3 = f32[2,3] add(p.2, p.2), "
        'metadata={op_name="x"}, backend_config={"a":1} }'
    )

    def root(**options: Any) -> str:
        return module.entry.root.to_text(**options)

    assert root() == (
        '%a.3 = f32[2,3]{1,0} add(%p.2, %p.2), metadata={op_name="x"}, backend_config={"a":1}'
    )
    assert root(print_metadata=False, print_backend_config=False).endswith("add(%p.2, %p.2)")
    assert root(print_percent=False).startswith("a.3 = f32[2,3]{1,0} add(p.2, p.2)")
    assert root(print_ids=False).startswith("%a = f32[2,3]{1,0} add(%p, %p)")
    assert root(include_layout_in_shapes=False).startswith("%a.3 = f32[2,3] add(")
    assert root(print_result_shape=False).startswith("%a.3 = add(")
    assert "(f32[2,3]{1,0} %p.2, f32" in root(print_operand_shape=True)
    assert "add(, )" in root(print_operand_names=False)
    assert "tmp" not in root(canonicalize_instruction_names=True)
    assert module.to_text(indent_amount=1).startswith("  HloModule module_e.1, ")
    assert "\n  ENTRY %e.1 (p.2: f32[2,3])" in module.to_text(indent_amount=1)


def test_options_that_jaxlib_does_not_show() -> None:
    module = xl.hlo.parse(
        "f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }"
        " ENTRY e { x = f32[4] parameter(0)  z = f32[] constant(0)"
        "  s = ((f32[4]), f32[4]) negate-start(x)  d = f32[4] negate-done(s)"
        '  r = f32[] reduce(d, z), dimensions={0}, to_apply=f, origin={{"x"}},'
        ' frontend_attributes={k="1"}, metadata={op_name="n" source_line=3}'
        "  ROOT q = f32[] call(r, z), to_apply=f }"
    )
    assert "negate-start(%x)\n" in str(module)
    plain = module.to_text(syntax_sugar_async_ops=False)
    assert "async-start(%x), calls=%async_wrapped\n" in plain
    assert "async-done(%s)" in plain
    assert xl.hlo.parse(plain).to_text() == str(module)
    reduce = module.find("r")
    assert reduce.to_text(print_metadata_only_op_name=True).endswith(', metadata={op_name="n"}')
    assert "frontend" not in reduce.to_text(print_frontend_attributes=False)
    assert "origin" not in reduce.to_text(print_original_value=False)
    assert "to_apply" not in reduce.to_text(print_subcomputation_mode="off")
    bodies = module.to_text(
        print_subcomputation_mode="non_sequential_bodies", print_program_shape=False
    )
    assert "dimensions={0}, to_apply=\n  {\n" in bodies
    assert "call(%r, %z)\n" in bodies


def test_many_operands_are_counted_or_cut() -> None:
    names = ", ".join(["p"] * 7)
    root = xl.hlo.parse(f"ENTRY e {{ p = f32[] parameter(0)  t = tuple({names}) }}").entry.root
    assert "(%p, %p, %p, %p, %p, /*index=5*/%p, %p)" in str(root)
    assert "(%p, %p, %p, %p, ...(+3))" in root.to_text(compact_operands=True)


def test_attributes_that_nobody_knows_are_kept_as_text() -> None:
    line = "a = f32[2] negate(f32[2] p), flavour={sweet, {1,2}}, taste=umami, sharding={replicated}"
    root = xl.hlo.parse(line).entry.root
    assert root.attributes["flavour"] == "{sweet, {1,2}}"
    assert str(root) == (
        "%a = f32[2]{0} negate(%p), flavour={sweet, {1,2}}, taste=umami, sharding={replicated}"
    )


@together(
    ("given", "printed"),
    [
        ("f8e8m0fnu[] constant(nan)", "nan"),  # it has no sign
        ("f8e4m3fn[] constant(-nan)", "-nan"),
        ("f8e4m3fnuz[] constant(nan)", "-nan"),  # the negative zero of others
        ("f4e2m1fn[2] constant({nan, -nan})", "{-0, 0}"),  # it has no NaN
        ("u64[] constant(-1)", "18446744073709551615"),
        ("s8[] constant(18446744073709551615)", "-1"),  # a word of 64 bits has a sign
        ("f32[] constant(18446744073709551615)", "-1"),
        ("f32[] constant(18446744073709551615.)", "1.84467441e+19"),
        ("s64[] constant(-00000000000000000000000012)", "-12"),
    ],
)
def test_constants_of_unusual_types_print_as_xla_prints_them(given: str, printed: str) -> None:
    assert f"constant({printed})" in str(xl.hlo.parse(f"ENTRY e {{ c = {given} }}"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"style": "pretty"}, "there is no style 'pretty'; there are default short_parsable"),
        ({"print_colours": True}, "print_colours are not all options; there are canonicalize"),
    ],
)
def test_unknown_styles_and_options_are_refused(given: dict[str, Any], message: str) -> None:
    module = xl.hlo.parse("ENTRY e { c = f32[] constant(1) }")
    with pytest.raises(xl.HloError, match=message):
        module.to_text(**given)


# Against XLA itself, where it is installed.

TOGGLES = [
    name
    for name, value in ((name, getattr(PrintOptions(), name)) for name in PrintOptions.__slots__)
    if isinstance(value, bool)
    and name
    not in (
        "print_frontend_attributes",
        "print_full_replica_group_list",
        "print_made_up_constants",
        "print_metadata_only_op_name",
        "print_only_essential_constants",
        "print_original_value",
        "syntax_sugar_async_ops",
    )
]


@pytest.mark.parametrize("option", TOGGLES)
def test_every_option_means_what_it_means_in_xla(option: str) -> None:
    hlo = pytest.importorskip("jaxlib._hlo")
    for name in ("calls", "essential constants", "names"):
        text = FACTS["modules"][name]["text"]
        for style in STYLES:
            options = hlo.HloPrintOptions
            wanted = options() if style == "default" else getattr(options, style)()
            setattr(wanted, option, not getattr(wanted, option))
            changes = {option: getattr(wanted, option)}
            printed = xl.hlo.parse(text).to_text(style, **changes)
            assert printed == hlo.hlo_module_from_text(text).to_string(wanted)


#: What jaxlib 0.10.2 writes for origins that are given with other spaces.
ORIGINS = {
    '{ {"a b,c"}}': '{{"a b,c"}}',
    '{{"p"  {1, 2}}}': '{{"p" {1,2}}}',
    '{{"p"{}}}': '{{"p"}}',
    '{( {"a"},({"b"} ,{"c"{0}}) )}': '{({"a"}, ({"b"}, {"c" {0}}))}',
}


@pytest.mark.parametrize("given", ORIGINS)
def test_origins_have_xlas_spaces(given: str) -> None:
    root = xl.hlo.parse(f"r = f32[4] negate(f32[4] x), origin={given}").entry.root
    assert str(root).endswith(f"negate(%x), origin={ORIGINS[given]}")


def test_elements_of_tuples_have_the_origin_of_what_is_in_the_tuple() -> None:
    module = xl.hlo.parse("""ENTRY e { p = f32[4] parameter(0), origin={{"p"}}
        q = f32[4] parameter(1)  t = (f32[4], f32[4]) tuple(p, q), origin={({"v"}, {"w"})}
        a = f32[4] get-tuple-element(t), index=0  b = f32[4] get-tuple-element(t), index=1
        ROOT c = f32[4] get-tuple-element(t), index=0, origin={{"c"}} }""")
    assert [module.find(name).get("origin") for name in "abc"] == ['{{"p"}}', None, '{{"c"}}']


def test_constants_that_are_left_out_of_print_are_read_again() -> None:
    text = "ENTRY e { ROOT c = (f32[], s32[2], (pred[], ())) constant((1, {2, 3}, (true, ()))) }"
    short = str(xl.hlo.parse(text))
    assert "constant({...})" in short
    again = xl.hlo.parse(short)
    assert str(again) == short
    assert again.entry.root.literal.is_elided
