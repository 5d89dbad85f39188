"""The table of XLA's names in the documentation: what it names exists, by the rule it states."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cases import together
from xarraylite.layout.layout import Layout
from xarraylite.xla.spec import ArraySpec

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "xla_names.md"
TEXT = PAGE.read_text(encoding="utf-8")
OWNERS = {"spec": ArraySpec, "ArraySpec": ArraySpec, "layout": Layout, "Layout": Layout}
NAMED = sorted(set(re.findall(r"`(spec|layout|ArraySpec|Layout)\.(\w+)`", TEXT)))
ROWS = re.findall(r"^\| `(\w+)` \| (.+) \|$", TEXT, re.MULTILINE)

# Constructors, attributes and operators, which Python spells otherwise.
OTHERWISE = {
    "MakeLayout",
    "MakeTokenShape",
    "MakeOpaqueShape",
    "MakeBufferShape",
    "HumanStringWithLayout",
    "ToProto",
}


def snake_case(name: str) -> str:
    parts = re.findall(r"1D|[A-Z][a-z]*(?:0(?=[A-Z]))?|\d+", name)
    return "_".join([part.lower() for part in parts])


@together(("owner", "name"), NAMED)
def test_named_methods_exist_and_are_documented(owner: str, name: str) -> None:
    found = getattr(OWNERS[owner], name)
    assert found.__doc__ or name in Layout.__slots__


@together(("xla", "here"), ROWS)
def test_the_rule_for_names_holds(xla: str, here: str) -> None:
    if xla in OTHERWISE or (xla, "str(layout)" in here) == ("HumanString", True):
        return
    names = re.findall(r"\.(\w+)`", here)
    if xla == "LinearIndex":  # the exact position has the short name
        assert names == ["linear_index_first_tile"]
    else:
        assert snake_case(xla) == names[0]


def test_the_table_is_complete() -> None:
    named = {name for owner, name in NAMED if OWNERS[owner] is ArraySpec}
    public = {
        name
        for owner in ArraySpec.__mro__[1:-2]
        for name in vars(owner)
        if not name.startswith("_")
    }
    assert public - named <= {"is_padded", "physical_dimensions", "physical_size", "suggest"} | {
        "last_dim_is_minor_most"
    }
    assert len(ROWS) > 120
