"""What programs cost, their pictures, their differences, and the command that shows them."""

from __future__ import annotations

import cProfile
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import xarraylite as xl
from tests.hlo import oracle
from xarraylite.__main__ import main
from xarraylite.hlo.cost.diff import differences

pytestmark = pytest.mark.once

TILED = """HloModule tiled, is_scheduled=true
ENTRY e {
  p = bf16[10,300]{1,0:T(8,128)(2,1)} parameter(0)
  c = bf16[10,300]{0,1:T(8,128)(2,1)} copy(p)
  t = bf16[300,10]{1,0:T(8,128)(2,1)} transpose(c), dimensions={1,0}
  n = bf16[300,10]{1,0:T(8,128)(2,1)} negate(t)
  ROOT r = bf16[3000]{0:T(1024)(128)(2,1)} reshape(n)
}"""


def test_bytes_padding_and_moves():
    cost = xl.hlo.parse(TILED).cost()
    assert cost.chip == ""
    size, other = 2 * 16 * 384, 2 * 304 * 128
    assert (cost.of("c").bytes_read, cost.of("c").bytes_written) == (size, other)
    assert cost.of("c").padding == size + other - 2 * 6000
    assert [item.instruction.name for item in cost.relayouts] == ["c", "r"]
    assert [item.instruction.name for item in cost.bitcasts] == ["t"]
    assert cost.of("t").bytes == 0
    assert cost.flops == 3000
    assert cost.padding_share == pytest.approx(cost.padding / cost.bytes)
    best = cost.suggestions()[0]
    assert best.instruction.name in ("c", "n", "t")
    assert best.saved_bytes > 0


def test_chip_is_assumed_where_nothing_is_tiled():
    module = xl.hlo.parse("r = f32[8,1] negate(f32[8,1] p)")
    padded = xl.ArraySpec("f32", (8, 1), xl.tpu_layout("f32", (8, 1), "v5e")).nbytes
    assert module.cost().of("r").bytes == 2 * padded
    assert module.cost(chip=None).of("r").bytes == 64
    with pytest.raises(xl.HloError, match="there is no chip 'v99'"):
        module.cost(chip="v99")


def test_memory_over_the_schedule():
    module = xl.hlo.parse(
        "ENTRY e { p = f32[8] parameter(0)  a = f32[16] broadcast(f32[] constant.c), dimensions={} "
        "b = f32[32] pad(a, f32[] constant.c), padding=8_8  s = f32[8] slice(b), slice={[0:8]} "
        "ROOT r = f32[8] add(s, p) }".replace("f32[] constant.c", "z").replace(
            "ENTRY e {", "ENTRY e { z = f32[] constant(0)"
        )
    )
    line = module.cost(chip=None).timeline
    by_name = {i.name: size for i, size in zip(line.instructions, line.live, strict=True)}
    assert by_name["b"] == 4 * (8 + 1 + 16 + 32)
    assert (line.peak, line.peak_at.name) == (by_name["b"], "b")
    assert [i.name for i, _ in line.alive] == ["b", "a", "p", "z"]
    assert by_name["r"] == 4 * (8 + 8 + 8)


def test_flops_of_products_reductions_and_regions():
    case = oracle.load("modules", "model_mlp_gradient", "unoptimised")
    module = xl.hlo.parse(case.text)
    dots = module.walk("dot")
    cost = module.cost(chip=None)
    assert sum([cost.of(i.name).flops for i in dots]) == 2 * 2 * 5 * 8 * 16 + 3 * 2 * 5 * 16 * 4
    conv = xl.hlo.parse(
        "r = f32[1,4,2] convolution(f32[1,4,3] x, f32[3,3,2] k), "
        "window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f"
    )
    # Windows at both ends meet two elements, the two inner ones three.
    assert conv.cost().flops == 2 * (2 + 3 + 3 + 2) * 3 * 2


@pytest.mark.parametrize("which", ["unoptimised", "optimised"])
def test_every_module_can_be_weighed_and_drawn(which):
    for name in oracle.texts("modules", which):
        module = xl.hlo.parse(oracle.load("modules", name, which).text)
        cost = module.cost()
        assert cost.timeline.peak >= 0
        assert json.loads(json.dumps(cost.to_dict()))["flops"] == cost.flops
        if name.startswith("model_"):
            ET.fromstring(module.draw().svg)
            ET.fromstring(module.draw(memory=True).svg)


def chain(length):
    lines = ["p = f32[64,64] parameter(0)", "x0 = f32[64,64] negate(p)"]
    lines += [f"x{k} = f32[64,64] add(x{k - 1}, p)" for k in range(1, length)]
    return xl.hlo.parse("ENTRY e {\n" + "\n".join(lines) + "\n}")


def test_long_programs_are_weighed_in_linear_time():
    costs, calls = [], []
    for length in (500, 4000):
        module = chain(length)
        profile = cProfile.Profile()
        costs.append(profile.runcall(module.cost))
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    assert [cost.flops for cost in costs] == [500 * 64 * 64, 4000 * 64 * 64]
    assert calls[1] < 10 * calls[0]  # a quadratic one would make 64 times as many


def test_programs_too_long_to_draw():
    with pytest.raises(xl.HloError, match="20001 instructions"):
        chain(20_000).draw()


def test_differences_see_through_names():
    one = xl.hlo.parse(
        "ENTRY e { a = f32[2,3] parameter(0)  b = negate(a)  ROOT c = exponential(b) }"
    )
    two = xl.hlo.parse(
        "ENTRY e { a = f32[2,3]{0,1} parameter(0)  b.7 = f32[2,3]{1,0} negate(a)  "
        "d = f32[2,3]{1,0} tanh(b.7)  ROOT c = f32[2,3]{1,0} exponential(d) }"
    )
    found = [(item.kind, str(item)) for item in differences(one, two)]
    assert [kind for kind, _ in found] == ["layout", "added"]
    assert found[1][1] == "+ d = f32[2,3]{1,0} tanh"
    assert list(differences(one, one)) == []


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["hlo", *arguments]) == 0
    return capsys.readouterr().out


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file, other = tmp_path / "a.hlo", tmp_path / "b.hlo"
    file.write_text(TILED)
    other.write_text(TILED.replace("negate", "exponential"))
    tree = run(capsys, str(file))
    assert "ENTRY e: 5 instructions" in tree
    assert "  * r = bf16[3000]{0:T(1024)(128)(2,1)} reshape(n)" in tree
    assert "p = bf16[10,300]{1,0:T(8,128)(2,1)} parameter(0)" in tree
    assert "copy(p)" not in run(capsys, str(file), "--filter", "negate")
    costs = run(capsys, str(file), "--cost", "--draw", str(tmp_path / "g.svg"))
    assert "relayouts (2)" in costs
    assert costs.endswith(f"{xl.hlo.parse(TILED).cost()}\n")
    ET.parse(tmp_path / "g.svg")
    assert tree.splitlines()[-1].startswith("tiled: 3,000 operations, ")
    assert json.loads(run(capsys, str(file), "--json"))["peak_at"] == "t"
    few = json.loads(run(capsys, str(file), "--json", "--filter", "negate"))
    assert [row["opcode"] for row in few["instructions"]] == ["negate"]
    assert "~ n (operation)" in run(capsys, str(file), "--diff", str(other))
    assert json.loads(run(capsys, str(file), "--diff", str(other), "--json"))[0]["kind"]


def test_the_command_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TILED.encode())))
    assert "ENTRY e: 5 instructions" in run(capsys, "-")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ENTRY")))
    assert main(["hlo", "-"]) == 2
    assert capsys.readouterr().err.startswith("xarraylite hlo: -: line 1, ")


@pytest.mark.parametrize(
    "line",
    [
        "dot(a, a), lhs_contracting_dims={5}, rhs_contracting_dims={0}",
        "convolution(a, a), window={size=2x2}, dim_labels=bf_io->bf",
        "convolution(a, a), window={size=2}, dim_labels=0f_0i->0f",
        "sort(a), dimensions={4}, to_apply=f",
    ],
)
def test_what_breaks_a_rule_is_not_weighed(line: str):
    module = xl.hlo.parse(
        "f { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT l = compare(x, y), direction=LT }"
        f" ENTRY e {{ a = f32[4,4] parameter(0)  ROOT r = f32[4,4] {line} }}"
    )
    with pytest.raises(xl.HloError, match=r"^r: "):
        module.cost()
    with pytest.raises(xl.HloError, match=r"^r: "):
        module.draw()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_tables_are_richs_in_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("rich")
    file, terminal = tmp_path / "a.hlo", Terminal()
    file.write_text(TILED)
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["hlo", str(file), "--cost"]) == 0
    shown = terminal.getvalue()
    assert "────" in shown
    assert "bf16[3000]{0:T(1024)(128)(2,1)} reshape(n)" in shown  # brackets are no markup


def test_the_ends_of_what_was_begun_are_free():
    cost = xl.hlo.parse(
        "ENTRY e { p = f32[4] parameter(0)  s = (f32[4], f32[8]) all-gather-start(p), "
        "dimensions={0}, replica_groups={{0,1}}  ROOT d = f32[8] all-gather-done(s) }"
    ).cost(chip=None)
    assert (cost.of("s").bytes > 0, cost.of("d").bytes) == (True, 0)


def test_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "a.hlo"
    assert main(["hlo", str(file)]) == 2
    assert "No such file" in capsys.readouterr().err
    file.write_text("ENTRY e { a = f32[2] nothing() }")
    assert main(["hlo", str(file)]) == 2
    assert "line 1, column 22" in capsys.readouterr().err


@pytest.mark.parametrize(
    "caller",
    [
        "call(x), to_apply={}",
        "fusion(x), kind=kLoop, calls={}",
        "map(x), dimensions={{}}, to_apply={}",
        "while(x), condition=ends, body={}",
    ],
)
def test_calls_within_calls_are_no_recursion(caller: str) -> None:
    depth = 1500
    text = ["ends { x = f32[] parameter(0)  ROOT p = pred[] compare(x, x), direction=LT }"]
    text.append("c.0 { x = f32[] parameter(0)  ROOT y = f32[] negate(x) }")
    for k in range(1, depth):
        inner = caller.format(f"c.{k - 1}")
        text.append(f"c.{k} {{ x = f32[] parameter(0)  ROOT y = f32[] {inner} }}")
    cost = xl.hlo.parse("\n".join(text)).cost()
    assert cost.flops == (depth if "while" in caller else 1)
    assert cost.timeline.peak >= 4
