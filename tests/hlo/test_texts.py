"""Some 1300 texts by hand: printed in four styles as XLA prints them, or refused where it does."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

pytestmark = pytest.mark.once

DATA = Path(__file__).parent / "data"
FACTS: dict[str, Any] = json.loads((DATA / "texts.json").read_text(encoding="utf-8"))
STYLES = ["default", "short_parsable", "canonical", "fingerprint"]


def whole(header: int, text: str) -> str:
    return text if header < 0 else f"{FACTS['headers'][header]} ROOT {text}\n}}\n"


def wrong(header: int, text: str, digest: str | None) -> str:
    """What is not as with XLA about a text."""
    try:
        module = xl.hlo.parse(whole(header, text))
    except xl.HloError as error:
        return "" if digest is None else f"refused: {error}"
    prints = "\0".join([module.to_text(style) for style in STYLES])
    found = hashlib.sha256(prints.encode()).hexdigest()[:16]
    if digest is None:
        return "read, and XLA refuses it"
    return "" if found == digest else f"printed as {module}"


def test_texts_are_read_and_printed_as_by_xla() -> None:
    found = [(row[1], wrong(*row)) for row in FACTS["texts"]]
    assert [row for row in found if row[1]] == []


def test_the_facts_are_what_xla_does() -> None:
    hlo = pytest.importorskip("jaxlib._hlo")
    options = [None, *[getattr(hlo.HloPrintOptions, style)() for style in STYLES[1:]]]
    # Only texts that XLA reads, without constants whose numbers depend on all texts before.
    for header, text, digest in FACTS["texts"]:
        if digest is not None and "..." not in text:
            module = hlo.hlo_module_from_text(whole(header, text))
            prints = [module.to_string(*([] if one is None else [one])) for one in options]
            assert hashlib.sha256("\0".join(prints).encode()).hexdigest()[:16] == digest


LINE = "ENTRY e {{ p = f32[8,128] parameter(0)  k = s32[] constant(1)  ROOT r = {} }}"


@together(
    "line",
    [
        # XLA's reader refuses these itself, or aborts, or puts another shape in place.
        "f32[8,128] infeed(token[] after-all())",
        "f32[8] tuple(p)",
        "(f32[8]) tuple(p, k)",
        "f32[8] get-tuple-element((f32[8,128], s32[]) tuple(p, k)), index=2",
        "f32[8] concatenate(p, p), dimensions={0,1}",
        "f32[1,1] dynamic-slice(p, k), dynamic_slice_sizes={1,1}",
        "f32[8,128] dynamic-update-slice(p, p)",
        "f32[8,128] after-all()",
        "s32[] get-dimension-size(p), dimensions={}",
        "f32[8] send-done(p)",
        "f32[8,8] convolution(p, p), dim_labels=0f_0i->0f, window={size=8}",
        "f32[8,8] convolution(p, p), dim_labels=?bf_io->bf",
    ],
)
def test_shapes_are_for_verify(line: str) -> None:
    module = xl.hlo.parse(LINE.format(line))
    with pytest.raises(xl.HloError):
        module.verify()


@together(
    ("line", "message"),
    [
        ("f32[8,128] add(p, p), origin={1}", "expected arrays such as"),
        ("f32[8,128] tanh(p), result_accuracy={mode=nope}", "expected one of default highest"),
        ("f32[8,8] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={1}, algorithm=dot_x",
         "expected one of unset dot_any_f8_any_f8_f32"),
        ("f32[8,128] convolution(p, p), dim_labels=b0f_0io->bf", "the same spatial dimensions"),
        ("f32[8,128] convolution(p, p), dim_labels=b1f_1io->b1f", "each spatial dimension once"),
        ('f32[8] custom-call(p), custom_call_target="f", operand_layout_constraints={}',
         "operand_layout_constraints has one shape for each operand"),
        ('f32[8] custom-call(p), custom_call_target="f", operand_layout_constraints={f32[8,127]}',
         "operand_layout_constraints has one shape for each operand"),
        ("f32[2] constant({1, ...})", "left out whole"),
        ("f32[] constant({...})", "left out whole"),
    ],
)  # fmt: skip
def test_what_is_refused_says_what_was_expected(line: str, message: str) -> None:
    with pytest.raises(xl.HloError, match=message) as caught:
        xl.hlo.parse(LINE.format(line))
    assert str(caught.value).startswith("line 1, column ")


def test_a_custom_call_with_layouts_forgets_what_it_calls() -> None:
    call = 'f32[8] custom-call(p), custom_call_target="f", called_computations={f}'
    text = "f {{ a = f32[] parameter(0) }}  g {{ b = f32[] parameter(0) }}" + LINE
    assert [c.name for c in xl.hlo.parse(text.format(call)).entry.root.called_computations] == ["f"]
    both = xl.hlo.parse(text.format(call + ", to_apply=g")).entry.root
    assert [c.name for c in both.called_computations] == ["g"]
    asked = call + ", operand_layout_constraints={f32[8,128]{0,1}}"
    assert xl.hlo.parse(text.format(asked)).entry.root.called_computations == ()


LEFT_OUT = """ENTRY e {
  a = f32[12] constant({...})
  b = u8[5] constant({...})
  c = s4[30] constant({...})
  ROOT t = tuple(a, b, c) }"""


def test_constants_that_were_left_out_are_printed_as_xla_makes_them_up() -> None:
    module = xl.hlo.parse(LEFT_OUT)
    text = module.to_text("short_parsable")
    assert "a = f32[12]{0} constant({0, 1.4013e-45, 2.8026e-45, " in text
    assert "b = u8[5]{0} constant({12, 0, 0, 0, 0})" in text  # byte 1 is the first of its kind
    assert "c = s4[30]{0} constant({-3, 0, 0, 0, -2, 0, 0, 1, 2, " in text
    assert str(module).count("{...}") == 2  # ten elements and fewer are always printed
    plain = module.to_text("short_parsable", print_made_up_constants=False)
    assert plain.count("{...}") == 3
    literal = module.find("a").literal
    assert literal.is_elided
    assert literal.values is None
    assert literal.printed is not None
    assert literal.printed.view(np.uint32).tolist() == list(range(12))


def test_copies_of_modules_know_what_was_left_out() -> None:
    again = copy.deepcopy(xl.hlo.parse(LEFT_OUT))
    assert [again.find(name).literal.is_elided for name in "abc"] == [True] * 3
    call = 'ENTRY e { ROOT r = f32[] custom-call(), custom_call_target="f", literal=f32[3]{0} %s }'
    root = copy.deepcopy(xl.hlo.parse(call % "{...}")).entry.root
    assert root.attributes["literal"].is_elided
    assert "literal=f32[3]{0} {0, 1.4013e-45, 2.8026e-45}" in str(root)


def test_constants_too_large_to_make_up_stay_left_out() -> None:
    module = xl.hlo.parse("ENTRY e { ROOT a = f32[100000,100000] constant({...}) }")
    assert "constant({...})" in module.to_text("short_parsable")


def test_sparse_convolutions_are_read_and_not_run() -> None:
    text = LINE.format(
        "f32[8,8] convolution(p, p), dim_labels=bf_oi->bf, sparsity_config={lhs={sparsity=2x4}}"
    )
    module = xl.hlo.parse(text).verify()
    assert module.cost().flops == 0
    with pytest.raises(xl.HloError, match="sparse operands are not known"):
        module(np.zeros((8, 128), np.float32))


def test_tables_of_recovery_hold_modules() -> None:
    inner = "HloModule i\\nENTRY j { ROOT x = f32[] parameter(0) }"
    text = f'HloModule m, origin_recovery_table={{{{"b"}}:{{"a" {{1}}}},"{inner}"}}\n'
    module = xl.hlo.parse(text + "ENTRY e { ROOT p = f32[] parameter(0) }")
    assert '\n  {"b"} : {"a" {1}},\n  "\n    HloModule i, ' in str(module)
    assert str(xl.hlo.parse(str(module))) == str(module)
    with pytest.raises(xl.HloError, match="line 1, column 36: expected"):
        xl.hlo.parse("HloModule m, origin_recovery_table={1}\nENTRY e { p = f32[] parameter(0) }")
