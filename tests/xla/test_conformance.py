"""Facts about XLA's shapes and layouts, from its documentation, its tests and its compiler.

Every fact in the data files is a case.  A fact has a *kind*, which says how to read it; kinds
and functions that nobody reads fail, so that none is left out in silence.  The first file is the
one we were given; the second is ours, the rest of what XLA's tests assert and what its Python
package answers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cases import together
from xarraylite._errors import XarrayliteError
from xarraylite.dtypes.element_types import element_type
from xarraylite.layout.fields import COMBINE, PaddingValue
from xarraylite.layout.layout import Layout
from xarraylite.xla.formats import tpu_layout
from xarraylite.xla.spec import ArraySpec

Case = dict[str, Any]
FILES = [
    json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("xla_layout_cases.json", "more_layout_cases.json")
]
CASES: list[Case] = [case for data in FILES for case in data["cases"]]

parse = ArraySpec.parse


def parse_print(case: Case) -> None:
    spec = parse(case["text"])
    assert str(spec) == case["expected"]
    assert parse(str(spec)) == spec


def refused(case: Case) -> None:
    with pytest.raises(ValueError, match="column"):
        parse(case["text"])


def layout_fields(case: Case) -> None:
    spec = parse(case["text"])
    assert spec.layout is not None
    sizes = [["*" if n == COMBINE else n for n in tile.dimensions] for tile in spec.layout.tiles]
    assert case["expected"] == {
        "dimensions": list(spec.dimensions),
        "minor_to_major": list(spec.layout.minor_to_major),
        "tiles": sizes,
        "element_size_in_bits": spec.layout.element_size_in_bits,
    }


def shape_proto_bytes(case: Case) -> None:
    spec, data = parse(case["text"]), bytes.fromhex(case["expected_hex"])
    assert spec.to_proto_bytes() == data
    assert ArraySpec.from_proto_bytes(data) == spec


def dtype(case: Case) -> None:
    kind, expected = element_type(case["primitive"]), case["expected"]
    assert kind.number == expected["enum"]
    assert kind.bits == expected["bits"]
    assert kind.storage_bytes == expected["storage_bytes"]
    assert kind.is_sub_byte_non_pred is expected["sub_byte_non_pred"]
    name = expected["numpy"]
    if kind.dtype is None:  # 1-bit integers came with a later ml_dtypes than the oldest we take
        assert name in ("int1", "uint1")
    else:
        assert kind.dtype.name == name
        assert element_type(kind.dtype) is kind


def minor_to_major_default(case: Case) -> None:
    spec = parse(case["shape"])
    assert list(spec.get_default_layout_for_shape().minor_to_major) == case["expected"]
    assert spec.layout == Layout.row_major(spec.rank)


def linear_index(case: Case) -> None:
    spec, index = parse(case["shape"]), tuple(case["index"])
    assert spec.linear_index(index) == case["expected"]
    assert spec.multi_index(case["expected"]) == index


def delinearize(case: Case) -> None:
    spec, index = parse(case["shape"]), tuple(case["expected"])
    assert spec.multi_index(case["linear"]) == index
    assert spec.linear_index(index) == case["linear"]


def memory_order(case: Case) -> None:
    assert parse(case["shape"]).memory_order() == case["expected"]


def subbyte_pack(case: Case) -> None:
    """Check that an element's bits lie where its position says, the first in the low bits."""
    plain = ArraySpec(case["primitive"], (len(case["values"]),), Layout.row_major(1))
    spec = plain.update_element_size_in_bits()
    bits = spec.element_size_in_bits()
    packed = sum([v << bits * spec.linear_index((i,)) for i, v in enumerate(case["values"])])
    assert packed.to_bytes(spec.nbytes, "little").hex() == "".join(case["expected_hex"])


def physical_dims(case: Case) -> None:
    assert list(parse(case["shape"]).physical_dimensions()) == case["expected"]


SIZES: dict[str, Callable[[ArraySpec], int]] = {
    "ArraySize": ArraySpec.array_size,
    "ArrayDataSize": ArraySpec.array_data_size,
    "ByteSizeOf": ArraySpec.byte_size_of,
    "ByteSizeOfElements": ArraySpec.byte_size_of_elements,
    "ByteSizeOfElementsRecursive": ArraySpec.byte_size_of_elements_recursive,
    "tpu_argument_size": ArraySpec.array_size,
}


def byte_size(case: Case) -> None:
    spec = parse(case["shape"])
    assert SIZES[case["function"]](spec) == case["expected"]
    if case["function"] == "tpu_argument_size":
        assert spec.nbytes == case["expected"]


STRIDES: dict[str, Callable[[ArraySpec], tuple[int, ...] | None]] = {
    "UnpackedByteStrides": ArraySpec.unpacked_byte_strides,
    "ByteStrides": ArraySpec.byte_strides,
    "numpy strides of Literal": ArraySpec.byte_strides,
}


def byte_strides(case: Case) -> None:
    found = STRIDES[case["function"]](parse(case["shape"]))
    assert (found and list(found)) == case["expected"]


def validate_error(case: Case) -> None:
    check = _validate_text if "text" in case else _validate_dimensions
    with pytest.raises(XarrayliteError):
        check(case)


def _validate_dimensions(case: Case) -> None:
    order = case["minor_to_major"]
    ArraySpec("f32", case["dims"], None if order is None else Layout(order))


def _validate_text(case: Case) -> None:
    spec = parse(case["text"])
    if "context" not in case:
        spec.validate_layout_in_shape()
        return
    # Combined dimensions are fine here: only XLA's reader of messages refuses them.
    assert "combine" in case["note"]
    spec.linear_index_for_nested_tiling((0,) * spec.rank)


def shape_equal(case: Case) -> None:
    a, b = parse(case["a"]), parse(case["b"])
    assert (a == b) is case["expected"]
    assert a.equal(b) is case["expected"]
    assert not case["expected"] or hash(a) == hash(b)


IGNORE = {
    "tiles": "ignore_tiles",
    "element_size": "ignore_element_size",
    "memory_space": "ignore_memory_space",
    "tail_padding_alignment_in_elements": "ignore_tail_padding_alignment_in_elements",
    "tail_padding": "ignore_tail_padding_alignment_in_elements",
    "split_configs": "ignore_split_configs",
    "index_primitive_type": "ignore_index_primitive_type",
    "pointer_primitive_type": "ignore_pointer_primitive_type",
    "physical_shape": "ignore_physical_shape",
    "all_but_minor_to_major": "minor_to_major_only",
}


def layout_equal(case: Case) -> None:
    a, b = (_layout(case[key]) for key in "ab")
    ignored = {IGNORE[name]: True for name in case.get("ignore", [])}
    assert a.equal(b, **ignored) is case["expected"]
    if not ignored:
        assert (a == b) is case["expected"]


def _layout(text: str) -> Layout:
    if text.startswith("{"):
        return Layout.parse(text)
    layout = parse(text).layout
    assert layout is not None
    return layout


COMPATIBLE: dict[str, Callable[[ArraySpec, ArraySpec], bool]] = {
    "Compatible": ArraySpec.compatible,
    "CompatibleIgnoringElementType": ArraySpec.compatible_ignoring_element_type,
    "CompatibleIgnoringFpPrecision": ArraySpec.compatible_ignoring_fp_precision,
}


def compatible(case: Case) -> None:
    test = COMPATIBLE[case.get("function", "Compatible")]
    a, b = parse(case["a"]), parse(case["b"])
    assert test(a, b) is case["expected"]
    assert test(b, a) is case["expected"]


def reshape_is_bitcast(case: Case) -> None:
    src, dst = parse(case["src"]), parse(case["dst"])
    if case.get("tiled"):
        assert src.is_bitcast(dst) is case["expected"]
        assert dst.is_bitcast(src) is case["expected"]
    else:
        ignore = case.get("ignore_element_type", False)
        assert src.reshape_is_bitcast(dst, ignore) is case["expected"]
        if not case.get("element_type_differs"):
            assert src.is_bitcast(dst) is case["expected"]


def transpose_is_bitcast(case: Case) -> None:
    src, dst = parse(case["src"]), parse(case["dst"])
    if not case.get("tiled"):
        ignore = case.get("ignore_element_type", False)
        assert src.transpose_is_bitcast(dst, case["permutation"], ignore) is case["expected"]
    if not case.get("element_type_differs"):
        assert src.is_bitcast(dst, case["permutation"]) is case["expected"]


def bitcast_decomposition(case: Case) -> None:
    found = parse(case["src"]).decompose_bitcast(parse(case["dst"]))
    assert (found and str(found)) == case["expected"]


def _edited(found: object) -> object:
    """Return a result as the data file writes it."""
    if isinstance(found, (ArraySpec, Layout)):
        return str(found)
    if isinstance(found, (list, tuple, Iterator)):
        return [_edited(x) for x in found]
    return found


# Functions whose arguments come in an order of their own, or that are methods of layouts.
EDITS: dict[str, Callable[..., object]] = {
    "AppendMajorDimension": lambda n, s: parse(s).append_major_dimension(n),
    "AppendMinorDimension": lambda n, s: parse(s).append_minor_dimension(n),
    "PrependMajorDimension": lambda n, s: parse(s).prepend_major_dimension(n),
    "PermuteDimensions": lambda p, s: parse(s).permute_dimensions(p),
    "PermuteDimensionsIgnoringLayout": lambda p, s: parse(s).permute_dimensions_ignoring_layout(p),
    "DeleteDimension": lambda d, s: parse(s).delete_dimension(d),
    "DeleteDimensions": lambda d, s: parse(s).delete_dimensions(d),
    "AlignLayouts": lambda s, t: parse(s).align_layouts(parse(t)),
    "FlattenTupleShape": lambda s: [x.human_string() for x in parse(s).flatten_tuple_shape()],
    "LayoutUtil.MakeDescendingLayout": Layout.row_major,
    "LayoutUtil.MakeAscendingLayout": Layout.column_major,
    "LayoutUtil.IsUntiledLayout": lambda tiles, dims: Layout(
        range(len(dims)), tiles
    ).is_untiled_layout(dims),
}


def shape_transform(case: Case) -> None:
    name, args = case["function"], case["args"]
    assert _edited(_apply(name, args)) == case["expected"]


def _apply(name: str, args: list[Any]) -> object:
    """Call XLA's function by the rule for names: in snake case, on the first argument."""
    if name in EDITS:
        return EDITS[name](*args)
    owner, _, function = name.rpartition(".")
    method = "".join(["_" + c.lower() if c.isupper() else c for c in function]).lstrip("_")
    method = re.sub("(?<=[a-z])1", "_1", method.replace("1_d_", "1d_"))
    first = Layout.parse(args[0]) if owner.startswith("Layout") else parse(args[0])
    rest = [parse(x) if isinstance(x, str) and x[-1] in ")]}" else x for x in args[1:]]
    return getattr(first, method)(*rest)


def layout_to_string(case: Case) -> None:
    assert str(Layout.parse(case["layout"])) == case["expected"]


def _padded(
    dims: list[int],
    padded_dimensions: list[int] | None = None,
    minor_to_major: list[int] | None = None,
    padding_value: str | None = None,
    element_type: str = "f32",
) -> ArraySpec:
    order = range(len(dims) - 1, -1, -1) if minor_to_major is None else minor_to_major
    value = padding_value and PaddingValue[padding_value.removesuffix("_PAD")]
    layout = Layout(order, padded_dimensions=padded_dimensions or None, padding_value=value)
    return ArraySpec(element_type, dims, layout)


def _padded_of(case: Case) -> ArraySpec:
    names = ("dims", "padded_dimensions", "minor_to_major", "padding_value", "element_type")
    return _padded(**{name: case[name] for name in names if name in case})


def _padded_equal(case: Case) -> object:
    layouts = [
        Layout(
            range(len(c["dims"])),
            padded_dimensions=c.get("padded_dimensions"),
            padding_value=c.get("padding_value", "INVALID_PAD").removesuffix("_PAD"),
        )
        for c in (case["a"], case["b"])
    ]
    return layouts[0] == layouts[1]


def _padded_size(case: Case) -> object:
    spec = _padded_of(case)
    assert spec.nbytes == spec.array_size() == spec.byte_size_of()
    return spec.nbytes


def _equivalent(case: Case) -> object:
    spec, tiled = _padded_of(case), parse(case["expected"])
    assert spec.memory_order() == tiled.memory_order()
    assert spec.is_bitcast(tiled)
    return case["expected"]


PADDED: dict[str, Callable[[Case], object]] = {
    "memory_order": lambda case: _padded_of(case).memory_order(),
    "byte_size": _padded_size,
    "is_padded": lambda case: _padded_of(case).is_padded(),
    "equal": _padded_equal,
    "padding_value_enum": lambda case: {f"{v.name}_PAD": v.value for v in PaddingValue},
    "to_string": lambda case: str(_padded_of(case).layout),
    "equivalent_tiled": _equivalent,
}


def padded_dims(case: Case) -> None:
    assert PADDED[case["fact"]](case) == case["expected"]


def tpu_default_layout(case: Case) -> None:
    for chip in case["chips"]:
        assert str(tpu_layout(case["element_type"], case["dims"], chip)) == case["expected"]


CHECKS: dict[str, Callable[[Case], None]] = {
    check.__name__: check
    for check in (
        parse_print,
        layout_fields,
        shape_proto_bytes,
        dtype,
        minor_to_major_default,
        linear_index,
        delinearize,
        memory_order,
        subbyte_pack,
        physical_dims,
        byte_size,
        byte_strides,
        validate_error,
        shape_equal,
        layout_equal,
        compatible,
        reshape_is_bitcast,
        transpose_is_bitcast,
        bitcast_decomposition,
        shape_transform,
        layout_to_string,
        padded_dims,
        tpu_default_layout,
    )
} | {"parse_error": refused, "parse_lenient": refused, "parse_wider": parse_print}


@together("case", CASES)
def test_fact(case: Case) -> None:
    assert case["kind"] in CHECKS, f"nobody reads facts of kind {case['kind']}"
    CHECKS[case["kind"]](case)


def test_every_kind_is_read_and_counted() -> None:
    for data in FILES:
        found = Counter([case["kind"] for case in data["cases"]])
        assert dict(found) == data["meta"]["kinds"]
        assert found.total() == data["meta"]["total"]
    assert {kind for data in FILES for kind in data["meta"]["kinds"]} == set(CHECKS)
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert [case["case"] for case in test_fact.cases] == CASES
