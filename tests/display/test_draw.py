"""Drawings: every position of memory has its cell, and the documented pictures come out."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.cases import together
from xarraylite._errors import FormatError, IndexRangeError, LayoutError, LayoutParseError
from xarraylite.display.draw import Drawing, draw
from xarraylite.display.frame import frame_of
from xarraylite.display.grid import kept
from xarraylite.display.picture import diagonals
from xarraylite.display.scene import STYLES, Box, Lines, Role, Words
from xarraylite.index.radix import unravel_index
from xarraylite.layout.digits import Tiled
from xarraylite.layout.fields import COMBINE
from xarraylite.layout.layout import Layout
from xarraylite.xla.spec import ArraySpec

PLAIN = "f32[3,5]{1,0}"
TILED = "f32[3,5]{1,0:T(2,2)}"
NESTED = "f32[4,8]{1,0:T(2,4)(2,1)}"
COMBINED = "f32[2,2,3,2]{3,2,1,0:T(*,2,*,3)}"
LARGE = "bf16[10,300]{1,0:T(8,128)(2,1)}"


def positions(drawing: Drawing) -> list[list[int | None]]:
    """The numbers in a picture, None where it is hatched."""
    return [
        [None if cell.element is None else cell.position for cell in row] for row in drawing.cells
    ]


def items(drawing: Drawing, kind: type, role: Role) -> list:
    return [i for i in drawing.scene.items if isinstance(i, kind) and i.role is role]


def said(drawing: Drawing, role: Role = Role.TEXT) -> list[str]:
    return [item.text for item in items(drawing, Words, role)]


def length(lines: list[Lines]) -> float:
    return sum(
        math.dist(a, b) for item in lines for run in item.runs for a, b in itertools.pairwise(run)
    )


# --- the documented pictures --------------------------------------------------------------------


def test_two_by_two_tiles_on_three_by_five() -> None:
    drawing = draw(TILED)
    assert positions(drawing) == [
        [0, 1, 4, 5, 8, None],
        [2, 3, 6, 7, 10, None],
        [12, 13, 16, 17, 20, None],
        [None] * 6,
    ]
    assert drawing.cells[2][3].element == (2, 3)
    assert said(drawing, Role.TITLE) == [TILED]
    assert said(drawing)[:2] == [
        "60 bytes of data · 96 bytes in memory · 37.5% is padding",
        "dimension 0 down, dimension 1 across",
    ]
    assert said(drawing)[2:] == ["tile (2,2)", "padding", "order in memory"]
    assert said(drawing, Role.HEADER) == ["0", "1", "2", "3", "4", "0", "1", "2"]
    assert [int(text) for text in said(drawing, Role.NUMBER)] == [
        p for row in positions(drawing) for p in row if p is not None
    ]


def test_two_levels_of_tiles() -> None:
    drawing = draw(NESTED)
    pairs = [[0, 2, 4, 6, 8, 10, 12, 14], [1, 3, 5, 7, 9, 11, 13, 15]]
    assert positions(drawing) == pairs + [[p + 16 for p in row] for row in pairs]
    tints = [item.role for item in items_of_cells(drawing)]
    assert tints[:8] == [Role.CELL_0] * 4 + [Role.CELL_1] * 4
    assert tints[16:24] == [Role.CELL_2] * 4 + [Role.CELL_3] * 4
    # The outer level: a frame around everything and a cross.  The inner one: 16 boxes.
    outer, inner = items(drawing, Lines, Role.TILE_1), items(drawing, Lines, Role.TILE_2)
    box = items_of_cells(drawing)[0]
    assert length(outer[:1]) == 3 * 8 * box.width + 3 * 4 * box.height
    assert length(inner[:1]) == 16 * 2 * (box.width - 7 + 2 * box.height - 7)
    assert STYLES[Role.TILE_1].width > STYLES[Role.TILE_2].width > STYLES[Role.TILE_3].width


def items_of_cells(drawing: Drawing) -> list[Box]:
    cells = {Role.CELL_0, Role.CELL_1, Role.CELL_2, Role.CELL_3}
    return [i for i in drawing.scene.items if isinstance(i, Box) and i.role in cells and i.note]


def test_combined_dimensions_are_one_side() -> None:
    drawing = draw(COMBINED)
    assert positions(drawing) == [
        [0, 1, 2, 6, 7, 8],
        [3, 4, 5, 9, 10, 11],
        [12, 13, 14, 18, 19, 20],
        [15, 16, 17, 21, 22, 23],
    ]
    assert said(drawing, Role.HEADER) == [
        *["0,0", "0,1", "1,0", "1,1", "2,0", "2,1"],
        *["0,0", "0,1", "1,0", "1,1"],
    ]
    assert drawing.cells[2][3].element == (1, 0, 1, 1)
    assert "dimensions 0 and 1 down, dimensions 2 and 3 across" in said(drawing)


def test_the_documented_combination_at_full_size() -> None:
    drawing = draw("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}")
    assert (drawing.grid.rows.axis.padded, drawing.grid.columns.axis.padded) == (112, 111)
    last = drawing.cells[-1][-2]
    assert (last.element, last.position) == ((1, 6, 7, 10, 9), 12430)
    assert drawing.cells[-1][-1].element is None


# --- every position, once -----------------------------------------------------------------------


@st.composite
def specs(draw_: st.DrawFn) -> ArraySpec:
    dimensions = draw_(st.lists(st.integers(1, 5), max_size=4))
    order = draw_(st.permutations(range(len(dimensions))))
    sizes = st.one_of(st.integers(1, 4), st.just(COMBINE))
    tile = st.tuples(st.lists(sizes, max_size=3), st.integers(1, 4)).map(lambda t: (*t[0], t[1]))
    tiles = draw_(st.lists(tile, max_size=3))
    spec = ArraySpec("f32", dimensions, Layout(order, tiles))
    assume(math.prod(spec.physical_dimensions()) <= 2000)
    return spec


@given(specs())
def test_every_position_has_one_cell_and_every_element_its_own(spec: ArraySpec) -> None:
    layout = spec.layout
    assert layout is not None
    frame = frame_of(spec.dimensions, layout.minor_to_major, layout.tile_dims)
    truth = Tiled.of(spec.dimensions, layout.minor_to_major, layout.tile_dims)
    assert frame.tiled.physical_size == truth.physical_size
    found: dict[int, tuple[int, ...] | None] = {}
    gathered = [
        [frame.gather(number, at) for at in range(axis.padded)]
        for number, axis in enumerate(frame.axes)
    ]
    for place in itertools.product(*[range(axis.padded) for axis in frame.axes]):
        position = frame.position(place)
        assert position not in found
        indices = [gathered[number][at] for number, at in enumerate(place)]
        element = [0] * spec.rank
        for axis, index in zip(frame.axes, indices, strict=True):
            for d, i in zip(axis.dims, unravel_index(index or 0, axis.extents), strict=True):
                element[d] = i
        found[position] = None if None in indices else tuple(element)
    for position in range(truth.physical_size):
        # What is on no axis is padding between merged tiles.
        assert found.pop(position, None) == spec.multi_index(position)
    assert not found


@given(specs())
def test_any_layout_can_be_drawn(spec: ArraySpec) -> None:
    drawing = draw(spec, max_rows=4, max_columns=5)
    ET.fromstring(drawing.svg)
    assert len(drawing.cells) <= 4
    for cell in itertools.chain(*drawing.cells):
        if cell.element is not None:
            assert spec.linear_index(cell.element) == cell.position
        else:
            assert spec.multi_index(cell.position) is None
    assert all(a.position < b.position for a, b in drawing.grid.path())


def test_padding_inside_a_tile_makes_gaps() -> None:
    drawing = draw("f32[3,5]{1,0:T(2,2)(3,3)}")
    assert positions(drawing)[0] == [0, 1, None, 9, 10, None, 18, None, None]
    assert positions(drawing)[2] == [None] * 9
    assert positions(drawing)[3][:2] == [27, 28]


def test_padding_on_no_axis_and_at_the_tail_is_counted() -> None:
    drawing = draw("f32[3,5]{1,0:T(2,3)(*,4)L(50)}")
    assert drawing.grid.off_grid == 4 * 8 - 4 * 6
    assert "8 more positions between merged tiles: padding" in said(drawing)
    assert "18 more positions from 32 on: tail padding" in said(drawing)


def test_padding_of_a_tile_that_merges_digits_lies_on_no_axis() -> None:
    frame = frame_of((3, 5), (1, 0), ((2, 3), (3, COMBINE, 4)))
    # Extents 2 2 2 3 after the first tile, and 2 1 2 3 4 after the second.
    assert [axis.padded for axis in frame.axes] == [4, 6]
    assert draw("f32[3,5]{1,0:T(2,3)(3,*,4)}").grid.off_grid == 2 * 1 * 2 * 3 * 4 - 4 * 6


def test_old_padding_is_one_tile() -> None:
    layout = Layout((0, 1), padded_dimensions=(3, 5))
    drawing = draw(ArraySpec("f32", (2, 3), layout))
    assert positions(drawing) == [
        [0, 3, 6, None, None],
        [1, 4, 7, None, None],
        [None] * 5,
    ]
    assert "padded dimensions" in said(drawing)


# --- what is shown ------------------------------------------------------------------------------


@together(
    ("text", "shape", "first"),
    [
        ("f32[]", (1, 1), [0]),
        ("f32[4]", (1, 4), [0, 1, 2, 3]),
        ("f32[3]{0:T(2,2)}", (2, 4), [0, 1, 4, None]),
        ("f32[2,3]{0,1}", (2, 3), [0, 2, 4]),
        ("f32[0,5]", (0, 5), []),
        ("f32[5,0]", (5, 0), []),
        ("f32[<=2,3]", (2, 3), [0, 1, 2]),
        ("s4[2,4]{1,0:E(4)}", (2, 4), [0, 1, 2, 3]),
    ],
)
def test_arrays_of_any_rank(text: str, shape: tuple[int, int], first: list[int | None]) -> None:
    drawing = draw(text)
    assert (drawing.grid.rows.axis.padded, drawing.grid.columns.axis.padded) == shape
    assert (positions(drawing) or [[]])[0] == first
    ET.fromstring(drawing.svg)


@pytest.mark.parametrize(
    ("index", "first", "line"),
    [
        (None, (0, 0, 0), "dimension 1 down, dimension 2 across, at [0, :, :]"),
        ([1], (1, 0, 0), "dimension 1 down, dimension 2 across, at [1, :, :]"),
        ([1, None, slice(None)], (1, 0, 0), "dimension 1 down, dimension 2 across, at [1, :, :]"),
        ((None, 2, None), (0, 2, 0), "dimension 0 down, dimension 2 across, at [:, 2, :]"),
        ([None, None, 3], (0, 0, 3), "dimension 0 down, dimension 1 across, at [:, :, 3]"),
    ],
)
def test_planes(index: list[int | None] | None, first: tuple[int, ...], line: str) -> None:
    spec = ArraySpec.parse("f32[2,3,4]{2,1,0:T(2,2)}")
    drawing = draw(spec, index=index)
    assert drawing.cells[0][0].element == first
    assert line in said(drawing)
    for cell in itertools.chain(*drawing.cells):
        assert cell.element is None or spec.linear_index(cell.element) == cell.position


def test_the_most_minor_dimensions_are_shown() -> None:
    drawing = draw("f32[4,7,7,3]{0,2,3,1:T(4,4)}")
    assert "dimension 0 down, dimension 2 across, at [:, 0, :, 0]" in said(drawing)


@together(
    ("text", "index", "error", "message"),
    [
        ("f32[2,3,4]", [None, None, None], LayoutError, "one entry for each of its 3 dimensions"),
        ("f32[2,3,4]", [0, 0, 0], LayoutError, "or only the 1 others"),
        ("f32[2,3,4]", [0, 0], LayoutError, r"at \(0, 0\)"),
        ("f32[2,3,4]", [0, None, 1], LayoutError, r"at \(0, :, 1\)"),
        ("f32[2,3,4]", [slice(1), None, None], LayoutError, "only ':' is taken"),
        ("f32[2,3,4]", [2], IndexRangeError, "index 2 is out of range for dimension 0 of extent 2"),
        ("f32[2,3,4]", [-1], IndexRangeError, "index -1"),
        (COMBINED, [0, None, None, 0], LayoutError, r"its tile merges dimensions \(0, 1\)"),
    ],
)
def test_planes_that_are_none(
    text: str, index: list[int | None], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        draw(text, index=index)


def test_large_arrays_are_cut_around_what_matters() -> None:
    drawing = draw(LARGE)
    assert len(drawing.cells) == len(drawing.cells[0]) == 16
    shown = drawing.grid.columns.shown
    # Both ends, the border of the first tile, and where padding begins.
    assert {0, 1, 127, 128, 299, 300, 382, 383} <= set(shown)
    assert "showing 16 of 384 columns" in said(drawing)
    assert len(said(drawing, Role.ELLIPSIS)) == 3 * 16
    both = draw("f32[1000,2000]", max_rows=3, max_columns=4)
    assert [c.element for c in both.cells[1]] == [(1, 0), (1, 1), (1, 1998), (1, 1999)]
    assert "showing 3 of 1,000 rows and 4 of 2,000 columns" in said(both)
    assert sorted(set(said(both, Role.ELLIPSIS))) == ["⋮", "⋯", "⋱"]
    assert "positions not shown" in said(both)


def test_huge_arrays_cost_no_more() -> None:
    drawing = draw("f32[99999999999,99999999999]{1,0:T(*,8)}")
    elements = [cell.element for cell in drawing.cells[0]]
    assert (99999999998, 99999999998) in elements
    assert elements[-1] is None
    assert len(drawing.svg) < 100_000


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_what_is_kept(limit: int) -> None:
    found = kept(100, (0, 100, 30, 0), limit)
    assert len(found) == limit
    assert list(found) == sorted(set(found))
    assert found[0] == 0


def test_the_path_can_be_left_out() -> None:
    with_path, without = draw(PLAIN), draw(PLAIN, path=False)
    assert items(with_path, Lines, Role.PATH)
    assert not items(without, Lines, Role.PATH)
    assert "order in memory" not in said(without)
    assert positions(with_path) == positions(without)


def test_the_path_of_rows_has_steps_and_jumps() -> None:
    drawing = draw(PLAIN, path=True)
    box = items_of_cells(drawing)[0]
    steps, jumps = (items(drawing, Lines, role)[0] for role in (Role.PATH, Role.JUMP))
    assert length([steps]) == 3 * 4 * box.width
    assert length([jumps]) == pytest.approx(2 * math.hypot(4 * box.width, box.height))


def test_hatching_covers_padding_alone() -> None:
    drawing = draw(TILED)
    # One sample is in the key; the picture's own comes first.
    hatch = items(drawing, Lines, Role.HATCH)[0]
    boxes = items_of_cells(drawing)
    padding = [box for box in boxes if box.note.endswith("padding")]
    assert len(padding) == 24 - 15
    for run in hatch.runs:
        x, y = (sum(point[k] for point in run) / 2 for k in (0, 1))
        assert any(
            box.x <= x <= box.x + box.width and box.y <= y <= box.y + box.height for box in padding
        )
    assert not items(draw(PLAIN), Lines, Role.HATCH)


def test_diagonals_stay_inside_and_in_step() -> None:
    for (x0, y0), (x1, y1) in diagonals(3, 4, 20, 30):
        assert 3 <= x0 <= x1 <= 20
        assert 4 <= y1 <= y0 <= 30
        assert (x0 + y0) % 7 == pytest.approx((x1 + y1) % 7)


def test_everything_lies_on_the_card() -> None:
    for text in (PLAIN, TILED, NESTED, COMBINED, LARGE, "f32[]{:T(128)}", "f32[0]"):
        scene = draw(text).scene
        for item in scene.items:
            if isinstance(item, Box):
                assert item.x >= 0
                assert item.x + item.width <= scene.width
                assert item.y + item.height <= scene.height
            elif isinstance(item, Lines):
                for x, y in itertools.chain(*item.runs):
                    assert 0 < x < scene.width
                    assert 0 < y < scene.height


def test_readers_are_told_what_they_point_at() -> None:
    notes = {box.note for box in items_of_cells(draw(TILED))}
    assert {"position 17: element (2, 3)", "position 9: padding"} <= notes


# --- the object ---------------------------------------------------------------------------------


def test_what_can_be_drawn() -> None:
    spec = ArraySpec.parse(TILED)
    same = [draw(obj).svg for obj in (TILED, spec, SimpleNamespace(spec=spec))]
    assert len(set(same)) == 1
    with pytest.raises(LayoutParseError, match="column 5"):
        draw("f32[,3]")
    with pytest.raises(TypeError, match="got list"):
        draw([1, 2])
    with pytest.raises(LayoutError, match="only arrays have a layout"):
        draw("(f32[2], token[])")
    with pytest.raises(LayoutError, match="without a bound"):
        draw("f32[?,2]")
    with pytest.raises(ValueError, match="max_rows must be at least 1"):
        draw(TILED, max_rows=0)


def test_an_array_without_a_layout_is_row_major() -> None:
    spec = ArraySpec("f32", (2, 3))
    assert spec.layout is None
    assert positions(draw(spec)) == [[0, 1, 2], [3, 4, 5]]


def test_notebooks_and_names() -> None:
    drawing = draw(TILED)
    assert drawing._repr_svg_() == drawing.svg
    assert repr(drawing) == f"<Drawing of {TILED}, 4 x 6 positions>"
    assert drawing.spec == ArraySpec.parse(TILED)


def test_save_goes_by_the_ending(tmp_path: Path) -> None:
    drawing = draw(TILED)
    for name in ("a.svg", "B.SVG"):
        drawing.save(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == drawing.svg
    drawing.save(str(tmp_path / "c.svg"))
    for name in ("a.pdf", "svg", ".svg", "a.svg.gz"):
        with pytest.raises(FormatError, match=r"must end in \.svg or \.png"):
            drawing.save(tmp_path / name)
        assert not (tmp_path / name).exists()
