"""HLO text in: what is read, what is inferred, and what is refused where."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.hlo.mutations import check, mutated, seeds

pytestmark = pytest.mark.once

DOCUMENT = """add.936 = bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}
add(exponential.183, broadcast.3115)"""
FUSION = """%fusion.3 = bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)}
fusion(bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)} %fusion.32),
kind=kCustom, calls=%all-reduce-scatter.3"""


# One instruction alone.


def test_an_elementwise_line_has_operands_like_its_result() -> None:
    module = xl.hlo.parse(DOCUMENT)
    root = module.entry.root
    assert (root.name, root.opcode) == ("add.936", "add")
    assert str(root.shape) == "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"
    assert [(p.name, p.opcode, p.shape) for p in root.operands] == [
        ("exponential.183", "parameter", root.shape),
        ("broadcast.3115", "parameter", root.shape),
    ]
    assert module.verify() is module
    assert str(root) == DOCUMENT.replace("\n", " ").replace("add(", "add(%", 1).replace(
        ", b", ", %b"
    ).replace("add.936", "%add.936", 1)


def test_a_computation_that_nobody_defines_is_a_custom_call_of_its_name() -> None:
    root = xl.hlo.parse(FUSION).verify().entry.root
    assert root.attributes["kind"] == "kCustom"
    assert root.operands[0].name == "fusion.32"
    callee = root.to_apply
    assert callee.name == "all-reduce-scatter.3"
    assert callee.root.attributes["custom_call_target"] == "all-reduce-scatter.3"
    assert callee.root.shape == root.shape
    assert xl.hlo.parse(str(root).replace("%fusion.32", str(root.operands[0].shape)))


def test_operands_may_have_no_name_and_a_line_none_either() -> None:
    module = xl.hlo.parse("f32[2] add(f32[2], f32[2] x)")
    assert [p.name for p in module.entry.parameters] == ["_0", "x"]
    assert module.entry.root.name == "_"
    assert (module.name, module.entry.name, module.is_scheduled) == ("_", "_", True)


def test_what_an_operand_is_may_be_unknown() -> None:
    root = xl.hlo.parse("r = f32[4] reshape(x)").entry.root
    assert root.operands[0].shape.is_opaque


# Modules and computations.


def test_a_module_without_header_is_named_after_its_entry() -> None:
    module = xl.hlo.parse("f { a = f32[] parameter(0) }  g { b = f32[2] parameter(0) }")
    assert (module.name, module.entry.name) == ("module_g", "g")
    assert [c.name for c in module.computations] == ["f", "g"]


def test_a_colon_may_stand_behind_the_name_of_a_module() -> None:
    module = xl.hlo.parse("HloModule m:, is_scheduled=true\nENTRY e { a = f32[] parameter(0) }")
    assert (module.name, module.is_scheduled) == ("m", True)


def test_the_root_is_marked_or_the_last() -> None:
    text = "f {{ {}a = f32[] parameter(0)  b = f32[] negate(a) }}"
    assert xl.hlo.parse(text.format("")).entry.root.name == "b"
    assert xl.hlo.parse(text.format("ROOT ")).entry.root.name == "a"


def test_comments_and_blanks_may_stand_anywhere() -> None:
    text = (
        "// first\nHloModule /* ( */ m // {\n ENTRY e{/**/a=f32[2/*,3*/]parameter( 0 )\n"
        '%b=f32[2]negate(/*index=5*/%a),/*x*/metadata={/*}*/op_name="/*no*/"}}//end'
    )
    module = xl.hlo.parse(text)
    assert module.find("b").metadata == xl.hlo.OpMetadata(op_name="/*no*/")


def test_operands_may_be_instructions_and_names_bodies() -> None:
    module = xl.hlo.parse(
        "ENTRY e { x = f32[2] parameter(0)  y = f32[2] parameter(1)"
        "  ROOT r = f32[2] add(maximum(x, negate(y)), f32[2] call(x)) }".replace(
            "call(x)", "abs(x)"
        )
    )
    assert [i.name for i in module.entry] == [
        "x", "y", "negate.anon", "maximum.anon", "abs.anon", "r",
    ]  # fmt: skip
    scalar = "r = f32[2] add(f32[2] x, f32[2] broadcast(f32[] y))"
    assert xl.hlo.parse(scalar).verify().find("broadcast.anon").get("dimensions") == ()
    with pytest.raises(xl.HloError, match="iota within an operand list cannot have iota_dimension"):
        xl.hlo.parse("r = f32[2] add(f32[2] x, f32[2] iota())")
    nested = xl.hlo.parse(
        "ENTRY e { x = f32[] parameter(0)  ROOT r = f32[] call(x), to_apply={"
        " p = f32[] parameter(0)  ROOT q = f32[] negate(p) } }"
    )
    assert nested.entry.root.to_apply.root.opcode == "negate"
    assert nested.verify()


def test_deep_nesting_is_no_recursion() -> None:
    depth = 3000
    operand = "abs(" * depth + "x" + ")" * depth
    module = xl.hlo.parse(f"ENTRY e {{ x = f32[] parameter(0)  r = f32[] {operand} }}")
    assert len(module.entry) == depth + 1
    body = "p = f32[] parameter(0) r = f32[] abs(p)"
    for _ in range(1200):
        body = f"p = f32[] parameter(0) r = f32[] call(p), to_apply={{ {body} }}"
    module = xl.hlo.parse(f"ENTRY e {{ {body} }}").verify()
    assert len(module.computations) == 1201
    assert len(xl.hlo.parse(str(module)).computations) == 1201
    assert module.entry.to_text("canonical").count("call(") == 1200


def test_names_are_unique_in_a_module() -> None:
    module = xl.hlo.parse(
        "f { x = f32[] parameter(0) x.1 = f32[] abs(x) } ENTRY g { x = f32[] parameter(0)"
        " f = f32[] call(x), to_apply=f }"
    )
    assert [i.name for i in module.entry] == ["x.2", "f"]


def test_headers_become_values() -> None:
    module = xl.hlo.parse(
        "HloModule m, is_scheduled=true, input_output_alias={ {1}: (0, {}, must-alias) },"
        " buffer_donor={ (1, {}), }, entry_computation_layout={(f32[2]{0:T(256)},f32[])->"
        '(f32[2],f32[2])}, replica_count=4, num_partitions=1, frontend_attributes={b="1",a={x}}\n'
        "ENTRY e { a = f32[2] parameter(0)  b = f32[] parameter(1)  t = tuple(a, a) }"
    )
    assert module.is_scheduled
    given = module.attributes
    assert given["input_output_alias"] == (xl.hlo.Alias((1,), 0, (), "must-alias"),)
    assert given["buffer_donor"] == ((1, ()),)
    assert dict(given["frontend_attributes"]) == {"a": "{x}", "b": "1"}
    assert given["replica_count"] == 4
    assert "num_partitions" not in given
    assert [str(p) for p in module.signature.parameters] == ["f32[2]{0:T(256)}", "f32[]"]


def test_stack_frames_are_kept_where_they_are_used() -> None:
    module = xl.hlo.parse(
        'HloModule m\n\nFileNames\n1 "a.py"\n2 "b.py"\n\nFunctionNames\n1 "f"\n2 "g"\n\n'
        "FileLocations\n"
        "1 {file_name_id=1 function_name_id=1 line=1 end_line=2 column=3 end_column=4}\n"
        "2 {file_name_id=2 function_name_id=2 line=5 end_line=6 column=7 end_column=8}\n\n"
        "StackFrames\n1 {file_location_id=2 parent_frame_id=1}\n"
        "2 {file_location_id=1 parent_frame_id=1}\n3 {file_location_id=2 parent_frame_id=3}\n\n"
        "ENTRY e { a = f32[] parameter(0), metadata={stack_frame_id=3}\n"
        ' b = f32[] abs(a), metadata={stack_frame_id=9 op_name="b"} }'
    )
    assert module.stack_frames == (
        xl.hlo.StackFrame("a.py", "f", 1, 2, 3, 4, 0),
        xl.hlo.StackFrame("b.py", "g", 5, 6, 7, 8, 1),
    )
    assert module.find("a").metadata == xl.hlo.OpMetadata(stack_frame_id=2)
    assert module.find("b").metadata == xl.hlo.OpMetadata(op_name="b")


def test_asynchronous_operations_wrap_others() -> None:
    module = xl.hlo.parse(
        "ENTRY e { x = f32[4] parameter(0)"
        '  s = ((f32[4]), f32[4], s32[]) negate-start(x), async_execution_thread="t"'
        "  u = ((f32[4]), f32[4], s32[]) async-update(s)  d = f32[4] negate-done(u) }"
    ).verify()
    start = module.find("s")
    assert (start.opcode, start.to_apply.root.opcode) == ("async-start", "negate")
    assert start.to_apply.execution_thread == "t"
    assert module.find("d").called_computations == start.called_computations


@pytest.mark.parametrize(
    ("phase", "more"),
    [("abs", ""), ("async", ", calls=g"), ("negate", ', async_execution_thread="u"')],
)
def test_asynchronous_operations_end_as_they_began(phase: str, more: str) -> None:
    text = (
        "g { a = f32[4] parameter(0)  ROOT r = f32[4] negate(a) }"
        "ENTRY e { x = f32[4] parameter(0)"
        '  s = ((f32[4]), f32[4], s32[]) negate-start(x), async_execution_thread="t"'
        "  d = f32[4] {}-done(s){} }"
    )
    with pytest.raises(xl.HloError, match=r"^line 1, .* d: async-done runs what s began: "):
        xl.hlo.parse(text.replace("{}", phase, 1).replace("{}", more, 1))


def test_asynchronous_fusions_call_their_computation_once() -> None:
    module = xl.hlo.parse(
        "f { a = f32[4] parameter(0)  ROOT r = f32[4] negate(a) }"
        "ENTRY e { x = f32[4] parameter(0)"
        "  s = ((f32[4]), f32[4], u32[]) fusion-start(x), kind=kLoop, calls=f"
        "  ROOT d = f32[4] fusion-done(s) }"
    ).verify()
    wrapped = module.find("s").to_apply.root
    assert (wrapped.opcode, wrapped.to_apply.name) == ("fusion", "f")
    assert str(xl.hlo.parse(str(module))) == str(module)
    assert module([1, 2, 3, 4]).tolist() == [-1, -2, -3, -4]


def test_operands_may_be_parameters_and_constants() -> None:
    module = xl.hlo.parse(
        "ENTRY e { ROOT r = add(f32[2] constant({1,2}), f32[2] negate(f32[2] parameter( 0 ))) }"
    ).verify()
    names = ["constant.anon", "parameter.anon", "negate.anon", "r"]
    assert [instruction.name for instruction in module.entry] == names
    assert module([1, 1]).tolist() == [0, 1]
    with pytest.raises(xl.HloError, match="a constant has a shape"):
        xl.hlo.parse("ENTRY e { ROOT r = f32[] negate(constant(1)) }")


# Values.


def test_literals_of_every_kind() -> None:
    module = xl.hlo.parse(
        "ENTRY e { a = s4[2,2] constant({{1,-8},{7,0}})  b = pred[2] constant({true,0})"
        "  c = c64[1] constant({(1.5,-inf)})  d = bf16[] constant(0.1)"
        "  f = f32[3] constant({nan(0x1), -nan, -0.0})  g = u64[] constant(18446744073709551615)"
        "  h = (s32[], (f64[2])) constant((3, ({1e-300,2})))  i = f32[2,0] constant({{},{}})"
        "  j = f32[12] constant({...})  k = f8e8m0fnu[3] constant({1e-50, 3e-39, 2}) }"
    )

    def values(name: str) -> np.ndarray:
        found = module.find(name).literal.values
        assert found is not None
        assert not found.flags.writeable
        return found

    assert values("a").tolist() == [[1, -8], [7, 0]]
    assert values("b").tolist() == [True, False]
    assert values("c").tolist() == [complex(1.5, float("-inf"))]
    assert float(values("d")) == 0.10009765625
    assert values("f").view(np.uint32).tolist() == [0x7F800001, 0xFFC00000, 0x80000000]
    assert values("g") == 2**64 - 1
    assert values("i").shape == (2, 0)
    assert values("k").astype(np.float64).tolist() == [2.0**-127, 2.0**-127, 2]  # has no zero
    pair = module.find("h").literal
    assert [e.shape.human_string() for e in pair.elements] == ["s32[]", "(f64[2])"]
    assert module.find("j").literal.is_elided
    assert not pair.is_elided


def test_attributes_are_typed() -> None:
    line = (
        "c = f32[1,2,4,3] convolution(f32[1,5,9,4] x, f32[3,2,2,6] w), window={size=3x2 stride=2x2"
        " pad=0_-1x1_0 lhs_dilate=1x1 rhs_dilate=1x2 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f,"
        " feature_group_count=2, operand_precision={high,default}"
    )
    given = xl.hlo.parse(line).entry.root
    assert given.get("window") == (
        xl.hlo.WindowDimension(3, 2, 0, -1, 1, 1, True),
        xl.hlo.WindowDimension(2, 2, 1, 0, 1, 2, False),
    )
    assert given.get("dim_labels").dimensions("kernel", "oi") == (3, 2, 0, 1)
    assert (given.get("feature_group_count"), given.get("batch_group_count")) == (2, 1)
    assert given.get("operand_precision") == ("high", "default")
    assert given.get("channel_id") is None


def test_groups_of_replicas_expand() -> None:
    def groups(text: str) -> object:
        line = f"a = f32[4] all-to-all(f32[4] x), dimensions={{0}}, replica_groups={text}"
        return xl.hlo.parse(line).entry.root.get("replica_groups").expanded()

    assert groups("{{0,1},{2,3}}") == ((0, 1), (2, 3))
    assert groups("[2,2]<=[2,2]T(1,0)") == ((0, 2), (1, 3))
    assert groups("mesh['x'=2,'y'=4] {'y':(1)2,'x'}") == ((0, 4, 2, 6), (1, 5, 3, 7))
    assert groups("{}") == ()
    for size, named, fault in (
        (2, "'x':(0)2", "no axis 'x', or no such part"),
        (4, "'x':(2)1", "no such part"),  # a part is less than all and more than one
        (4, "'x':(1)4", "no such part"),
        (4, "'x':(1)2,'x':(2)2", "no such part"),  # they are all of x
        (12, "'x':(1)2,'x':(3)2", "it is taken"),
        (4, "'x','x':(1)2", "it is taken"),
        (4, "'x' foo", "expected axes"),
        (4, "?", "expected axes"),
        (1, "'x'", "more than one device"),
    ):
        with pytest.raises(xl.HloError, match=fault):
            groups(f"mesh['x'={size}] {{{named}}}")
        if size > 1 and named != "?":
            with pytest.raises(xl.HloError, match=fault):
                xl.hlo.parse(f"c = f32[8] copy(x), sharding={{mesh['x'={size}], [{{{named}}}]}}")
    assert groups("mesh['x'=8] {'x':(4)2,'x':(2)2}") == ((0, 2, 1, 3), (4, 6, 5, 7))


# Errors.

ERRORS = [
    ("", 1, 1, "the name of a computation"),
    ("ENTRY e {", 1, 10, "an instruction, such as"),
    ("ENTRY e { }", 1, 11, "has no instructions"),
    ("ENTRY e {\n  a = f32[2] add(b, c) }", 2, 18, "there is no instruction b before this one"),
    ("ENTRY e {\n  a = f32[2] pluss(b) }", 2, 14, "there is no opcode pluss"),
    ("ENTRY e { a = f32[2] parameter(0) b = f32[2] add(a) }", 1, 50, "add takes 2 operands, not 1"),
    ("ENTRY e { a = f32[2,3]{1,1} parameter(0) }", 1, 26, "names each of the dimensions 0 to 1"),
    ("ENTRY e { a = f32[2] parameter(1) }", 1, 35, "have the numbers [1]; expected 0 to 0"),
    ("ENTRY e { a = f32[2] parameter(0) a = f32[2] abs(a) }", 1, 35, "a is defined already"),
    ("ENTRY e { ROOT a = f32[] parameter(0) ROOT b = f32[] abs(a) }", 1, 39, "has one ROOT"),
    ("f { a = f32[] parameter(0) } f { a = f32[] parameter(0) }", 1, 30, "f is defined already"),
    ("ENTRY e { a = f32[2] constant({1,2,3}) }", 1, 31, "3 elements along dimension 0 of f32[2]"),
    ("ENTRY e { a = u8[] constant(256) }", 1, 29, "256 is out of the range of u8, 0 to 255"),
    ("ENTRY e { a = f16[] constant(1e9) }", 1, 30, "1e9 is out of the range of f16"),
    ("ENTRY e { a = f32[] constant(.5) }", 1, 30, "expected a number of type f32, found '.5'"),
    ("ENTRY e { a = f32[] constant(18446744073709551616) }", 1, 30, "does not fit 64 bits"),
    ("ENTRY e { a = s32[2] iota() }", 1, 28, "iota needs the attribute iota_dimension"),
    ("ENTRY e { a = f32[2] parameter(0), sharding={a} }", 1, 45, "a sharding is replicated, max"),
    ("ENTRY e { a = f32[2] parameter(0), x={(} }", 1, 40, "'}' closes '('"),
    ("ENTRY e { a = f32[2] parameter(0), x={1, 2", 1, 38, "this '{' is never closed"),
    ('ENTRY e { a = f32[2] parameter(0), x="abc }', 1, 38, "this string has no end"),
    ("ENTRY e { a = f32[] parameter(0) b = f32[] call(a), to_apply=g }", 1, 62, "no computation g"),
    (
        "ENTRY e { a = f32[2] parameter(0) b = f32[3] reshape(f32[3] a) }",
        1,
        61,
        "is f32[2]{0}, not",
    ),
    (
        "ENTRY e { a = f32[2] parameter(0) b = reshape(a) }",
        1,
        49,
        "the shape of reshape does not follow",
    ),
    ("f (a: f32[]) -> f32[2] { a = f32[] parameter(0) }", 1, 17, "but its root a is f32[]"),
    ('HloModule m\nFileNames\n1 "a"\nENTRY e { a = f32[] parameter(0) }', 4, 1, "FunctionNames"),
    ("a = f32[2] slice(f32[4] x), slice={[0:2:0]}", 1, 35, "the stride of a slice is positive"),
    ("a = f32[2] slice(f32[4] x), slice={[0:2] [0:2]}", 1, 35, "ranges such as"),
    (
        "HloModule m, buffer_donor={ (0, {}) (1, {}) }\nENTRY e { a = f32[] parameter(0) }",
        1,
        27,
        "expected (parameter, {index})",
    ),
    ("HloModule m, input_output_alias={,}\nENTRY e { a = f32[] parameter(0) }", 1, 33, "{output"),
    ("a = f32[2] slice(f32[4] x), slice={[0:2]}, slice={[0:2]}", 1, 44, "slice is given twice"),
    ("a = pred[] compare(f32[] x, f32[] y), direction=XY", 1, 49, "expected one of EQ NE GE"),
    (
        "a = f32[4] reduce-window(f32[4] x, f32[] y), window={size=1 pad=0_0_0}, to_apply=f",
        1,
        53,
        "a window has no interior padding",
    ),
    (
        "a = f32[] conditional(pred[] x, f32[] y, f32[] z), branch_computations={f, g}",
        1,
        50,
        "between true_computation and false_computation",
    ),
    (
        "a = f32[] conditional(s32[] x, f32[] y, f32[] z), true_computation=f, false_computation=g",
        1,
        49,
        "another operand one of branch_computations",
    ),
]


@together(("text", "line", "column", "expected"), ERRORS)
def test_errors_say_where_and_what_was_expected(
    text: str, line: int, column: int, expected: str
) -> None:
    with pytest.raises(xl.HloError) as caught:
        xl.hlo.parse(text)
    error = caught.value
    assert expected in error.expected
    assert (error.line, error.column) == (line, column)
    assert f"line {line}, column {column}: " in str(error)
    assert isinstance(error, ValueError)


def test_errors_name_the_instruction_and_show_the_line() -> None:
    with pytest.raises(xl.HloError, match=r"^line 2, column 16: b: .* in 'b = f32\[2\] add\(a\)'$"):
        xl.hlo.parse("ENTRY e { a = f32[2] parameter(0)\nb = f32[2] add(a)\n}")


# Hostile texts.

LENGTH = 1 << 16


def _nested(length: int) -> str:
    return "(" * (length // 2) + ")" * (length // 2)


BOMBS: list[Callable[[int], str]] = [
    lambda n: "{" * n,
    lambda n: "(" * n,
    lambda n: "[" * n,
    lambda n: "a = (" + "(" * n,
    lambda n: "a = f32[] " + "abs(" * (n // 4),
    lambda n: "a = f32[] abs(x), b=" + "{" * n,
    lambda n: "a = f32[] abs(x), b=" + '"' * n,
    lambda n: "a = f32[] abs(x), b=" + '"\\' * (n // 2),
    lambda n: "a = f32[] abs(x), backend_config={" + '"' * n,
    lambda n: "a = f32[] abs(x), b={" + "'" * n,
    lambda n: "/*" * (n // 2),
    lambda n: "/" * n,
    lambda n: "e { a = f32[] call(), to_apply=" * (n // 31),
    lambda n: "e { a = f32[] call(), to_apply={" * (n // 32),
    lambda n: "e { a = f32[2] constant(" + "{" * n,
    lambda n: "e { a = f32[2] constant({" + "1," * (n // 2) + "}) }",
    lambda n: "a = f32[" + "1," * (n // 2) + "] abs(x)",
    lambda n: "a = " + "f32[2]{0:T" + "(2)" * (n // 3) + "} abs(x)",
    lambda n: "a = f32[] abs(x), frontend_attributes={" + "a={}," * (n // 5) + "}",
    lambda n: "a = f32[] abs(x), sharding={" + "{" * n,
    lambda n: "a = f32[] abs(x), metadata={" + "op_name=1 " * (n // 10) + "}",
    lambda n: "a = f32[] abs(x), sharding={devices=[" + "1," * (n // 2) + "1]<=[1]}",
    lambda n: 'a = f32[] custom-call(), custom_call_target="x", literal=' + _nested(n),
    lambda n: f"a.{'9' * n} = f32[] abs(x)",
    lambda n: "a = f32[] constant(" + "9" * n + ")",
    lambda n: "a = s32[] constant(" + "9" * n + ")",
    lambda n: "a = f32[] abs(x), sharding={" + "replicated metadata={" * (n // 21),
    lambda n: "a = f32[] abs(x), channel_id=" + "9" * n,
    lambda n: "a = f32[] domain(x), domain={" + "{" * (n // 2) + "}" * (n // 2) + "}",
    lambda n: (
        "e { " + "".join([f"a.{k} = f32[] iota(), iota_dimension=0\n" for k in range(n // 40)])
    ),
]


@together("bomb", BOMBS, ids=range(len(BOMBS)))
def test_hostile_texts_do_no_harm(bomb: Callable[[int], str]) -> None:
    # Each takes milliseconds.  In quadratic time one would take minutes, and one that recurses
    # would end in an error of another kind.
    with contextlib.suppress(xl.HloError):  # a few are programs
        xl.hlo.parse(bomb(LENGTH))


def test_mutated_programs_are_refused_or_read() -> None:
    read = [check(text) for text in mutated(seeds(), 600, 20)]
    assert 0 < sum(read) < len(read)


def test_text_is_text() -> None:
    with pytest.raises(xl.HloError, match="expected text, not bytes"):
        xl.hlo.parse(b"ENTRY")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shape", "plain"),
    [
        ("b(f32[4]{0:T(128)})", "b(f32[4])"),
        ("f32[4]{0:#(u8)}", "f32[4]"),
        ("f32[4]{0:*(u32)}", "f32[4]"),
    ],
)
def test_buffers_and_sparse_layouts_print_as_they_were_read(shape, plain):
    body = (
        f"ENTRY %e (x: {plain}) -> {plain} {{\n  %x = {shape} parameter(0)\n"
        f'  ROOT %r = {shape} custom-call(%x), custom_call_target="Pin"\n}}'
    )
    text = f"HloModule m, entry_computation_layout={{({shape})->{shape}}}\n\n{body}"
    assert str(xl.hlo.parse(text)).strip() == text
    assert str(xl.hlo.parse(f"HloModule m\n{body}")).strip() == text


def test_a_line_alone_has_a_header_in_row_major_order() -> None:
    line = "(f32[4,2]{0,1:T(2,2)}, s8[3]) tuple(f32[4,2]{0,1:T(2,2)} x, s8[3] y)"
    module = xl.hlo.parse(line)
    shapes = "f32[4,2]{1,0:T(2,2)}, s8[3]{0}"
    said = f"HloModule _, is_scheduled=true, entry_computation_layout={{({shapes})->({shapes})}}\n"
    assert str(module).startswith(said)  # as jaxlib writes it
    assert str(module.entry.root.operands[0].shape) == "f32[4,2]{0,1:T(2,2)}"


def test_a_donor_that_is_named_twice_is_one():
    entry = "ENTRY e { ROOT p = f32[2] parameter(0) }"
    module = xl.hlo.parse(f"HloModule m, buffer_donor={{ (0, {{}}), (0, {{}}) }}\n{entry}")
    assert "buffer_donor={ (0, {}) }" in str(module)
