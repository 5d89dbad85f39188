"""Labels on shapes: every line of the shape design, and index sets as the model."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import together
from tests.shapes.models import Index, jagged_of, tree_indices, trees
from xarraylite._errors import ShapeError, SizeError
from xarraylite.shapes.base import ShapeBase
from xarraylite.shapes.jagged import JaggedShape
from xarraylite.shapes.labels import IndexedShape, parse_labels
from xarraylite.shapes.nested import Nested
from xarraylite.shapes.shape import Shape

S0 = Shape(10, 20, 30)
JS0 = JaggedShape([Shape(10), Shape(20)])
S1_2, S2_1 = Nested([1, 2], S0), Nested([2, 1], S0)


def test_smooth_compositions_as_in_the_design() -> None:
    s1 = Shape.null()
    s1["i,j,k"] = S0["i,j,k"] + S0["i,j,k"]
    assert s1 == S0
    s1["j,i,k"] = S0["i,j,k"] + S0["i,j,k"]
    assert s1 == Shape(20, 10, 30)
    s1["i,k"] = S0["i,j,k"] * S0["i,j,k"]
    assert s1 == Shape(10, 30)
    with pytest.raises(ShapeError, match="label 'i' has extent 20 on the left and 10 on the right"):
        s1["i,k"] = S0["j,i,k"] * S0["i,j,k"]
    assert s1 == Shape(10, 30)
    s1["i,j,k,l"] = S0["i,j,k"] * S0["i,j,l"]
    assert s1 == Shape(10, 20, 30, 30)


def test_extents_of_places_that_do_not_exist_are_0() -> None:
    # Row i = 0 has no m, so nothing says how long its k are; moved before m, they have to be there.
    inner = [[Shape(1), Shape(2), Shape(3)], [Shape(4), Shape(5), Shape(6)]]
    space = JaggedShape([[], [inner[0]], [inner[1]]])
    moved = space.permute(0, 2, 3, 1)
    assert moved.extents_of(2).tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 6]
    assert set(moved) == {(i, j, k, m) for i, m, j, k in space}


def test_jagged_compositions_as_in_the_design() -> None:
    js1 = JaggedShape.null()
    js1["i,j"] = JS0["i,j"] + JS0["i,j"]
    assert js1 == JS0
    # The design transposes the rows, which would not be jagged by rows any more.
    with pytest.raises(ShapeError, match=r"'j'.*10\|20 by i.*cannot stand before 'i'"):
        js1["j,i"] = JS0["i,j"] + JS0["i,j"]
    js1["i,k"] = JS0["i,j"] * JS0["k,j"]
    assert js1 == JaggedShape([Shape(2), Shape(2)])
    assert isinstance(js1, JaggedShape)
    with pytest.raises(ShapeError, match=r"'j' has extent 10\|20 by i on the left and 2 on"):
        js1["i,k"] = JS0["i,j"] * JS0["j,k"]
    js1["i,j,k"] = JS0["i,j"] * JS0["i,k"]
    assert js1 == JaggedShape([Shape(10, 10), Shape(20, 20)])


def test_nested_compositions_as_in_the_design() -> None:
    result = Nested.null()
    result["i,j,k"] = S1_2["i,j,k"] + S1_2["i,j,k"]
    assert result == S1_2
    with pytest.raises(ShapeError, match="label 'j' belongs to layer 1 on the left and to layer 0"):
        result["i,j,k"] = S1_2["i,j,k"] + S2_1["i,j,k"]
    result["i,j"] = S1_2["i,j,k"] * S1_2["i,j,k"]
    assert result == Nested([1, 1], Shape(10, 20))
    result["j,k"] = S1_2["i,j,k"] * S1_2["i,j,k"]
    assert result == Nested([0, 2], Shape(20, 30))
    result["j,k"] = S1_2["i,j,k"] * S2_1["i,j,k"]
    assert result == Nested([1, 1], Shape(20, 30))


@given(st.lists(st.integers(0, 2), min_size=1, max_size=3), st.data())
def test_products_of_equal_layers_keep_the_layering_of_the_left(
    counts: list[int], data: st.DataObject
) -> None:
    names = "abcdef"[: sum(counts)]
    nested = Nested(counts, Shape(range(2, 2 + len(names))))
    kept = [name for name in names if data.draw(st.booleans())]
    product = nested[",".join(names)] * nested[",".join(names)]
    result = product.as_shape(",".join(kept))
    left = [[names[mode] for mode in nested.modes_in_layer(k)] for k in range(len(counts))]
    assert result.layers == tuple([len([n for n in layer if n in kept]) for layer in left])


@given(st.permutations([0, 1, 1]), st.permutations([0, 0, 1]), st.sets(st.sampled_from("ijk")))
def test_products_of_other_layers_do_not_depend_on_the_order_of_factors(
    first: list[int], second: list[int], kept: set[str]
) -> None:
    left, right = [
        Nested([where.count(0), where.count(1)], Shape([10] * 3))[
            ",".join(sorted("ijk", key=lambda n: (where["ijk".index(n)], n)))
        ]
        for where in (first, second)
    ]
    outermost = {n: min(a, b) for n, a, b in zip("ijk", first, second, strict=True)}
    target = ",".join(sorted(kept, key=lambda n: (outermost[n], n)))
    result = (left * right).as_shape(target)
    assert result == (right * left).as_shape(target)
    assert result.layers == tuple([[outermost[n] for n in kept].count(k) for k in (0, 1)])


def test_the_pure_forms() -> None:
    expression = S0["i,j,k"] - S0["i,j,k"]
    assert expression.as_shape("k,i,j") == Shape(30, 10, 20)
    assert Shape.of_expression(expression, "k,i,j") == Shape(30, 10, 20)
    smooth = JaggedShape.of_expression(expression, "i,j,k")
    assert isinstance(smooth, JaggedShape)
    assert smooth == S0
    # The value of an expression is its own: no later change of an operand shows in it.
    moved = Shape(2, 3)
    indexed = moved["i,j"]
    moved.set_origin(5, 5)
    first, second = indexed.as_shape("i,j"), indexed.as_shape("i,j")
    first.set_origin(1, 1)
    assert second == Shape(2, 3)


def test_the_target_may_be_an_operand() -> None:
    s = Shape(2, 3)
    s["j,i"] = s["i,j"]
    assert s == Shape(3, 2)
    s["i,j"] += s["i,j"]
    assert s == Shape(3, 2)
    s[""] = s["i,j"] * s["i,j"]
    assert s == Shape()


def test_kinds_of_targets() -> None:
    target = Shape.null()
    target["i,k"] = JS0["i,j"] * JS0["k,j"]
    assert target == Shape(2, 2)
    with pytest.raises(ShapeError, match="is not smooth"):
        target["i,j"] = JS0["i,j"]
    for other in (Shape.null(), JaggedShape.null()):
        with pytest.raises(ShapeError, match="has no layers and cannot become"):
            other["i,j,k"] = S1_2["i,j,k"]
    with pytest.raises(ShapeError, match="has no layers; wrap it"):
        Nested.null()["i,j,k"] = S0["i,j,k"]
    with pytest.raises(ShapeError, match="an indexed shape such as"):
        target["i,j"] = Shape(2, 2)  # type: ignore[assignment]


@together(
    ("make", "text"),
    [
        (lambda: S0["i,j"], r"2 labels for the 3 modes of Shape\(10, 20, 30\)"),
        (lambda: S0["i,j,k,l"], "4 labels for the 3 modes"),
        (lambda: S0[""], "0 labels for the 3 modes"),
        (lambda: S0["i,j,i"], r"label 'i' stands for modes 0 and 2.*a trace"),
        (lambda: S0["i,,k"], "label 1 of 'i,,k' is '', not an identifier"),
        (lambda: S0["i,2,k"], "label 1 of 'i,2,k' is '2', not an identifier"),
        (lambda: S0[0], r"integers go to slice\(\) and chip\(\)"),
        (lambda: S0["i,j,k"].as_shape("i,l"), "result's label 'l' is missing in the term"),
        (lambda: S0["i,j,k"].as_shape("i,i"), "repeated labels"),
        (lambda: (S0["i,j,k"] + S0["l,j,k"]).as_shape("i,j"), r"'i' is missing in .*l=10, j=20"),
        (lambda: S0["i,j,k"] + S0["j,i,k"], "label 'i' has extent 10 on the left and 20 on the"),
        (lambda: S0["i,j,k"] - S0["j,i,k"], "label 'i' has extent 10"),
        (lambda: JS0["i,j"].as_shape("j"), "'j'.*depends on 'i', which is summed"),
        (lambda: JS0["i,j"] * Shape(10)["j"], r"has extent 10\|20 by i on the left and 10 on"),
        (lambda: JS0["i,j"] + JS0["k,j"], r"has extent 10\|20 by i on the left and 10\|20 by k"),
        (
            lambda: (JS0["i,j"] * JS0["k,j"]).as_shape("i,k,j"),
            "label 'j' is jagged by different labels .* can only be summed",
        ),
        (
            lambda: JS0["i,j"] * JaggedShape([Shape(10), Shape(21)])["k,j"],
            "label 'j' has extent",
        ),
        (lambda: S1_2["i,j,k"] * S0["i,j,k"], "got 2 layers and no layers"),
        (lambda: S1_2["i,j,k"] * Nested([3], S0)["i,j,k"], "got 2 layers and 1 layers"),
        (lambda: S1_2["i,j,k"].as_shape("k,i"), "layers are filled from left to right"),
    ],
)
def test_errors_name_labels_and_extents(make: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        make()


@pytest.mark.parametrize("other", [2, "i", None, Shape(10, 20, 30)])
def test_operands_are_indexed_shapes(other: Any) -> None:
    for operation in ("__add__", "__sub__", "__mul__"):
        assert getattr(S0["i,j,k"], operation)(other) is NotImplemented
    with pytest.raises(TypeError):
        S0["i,j,k"] * other


def test_parse_labels() -> None:
    assert parse_labels(" i , mu,x1") == ("i", "mu", "x1")
    assert parse_labels("") == parse_labels("  ") == ()


def test_repr_shows_labels_and_extents() -> None:
    assert repr(S0["i,j,k"]) == "IndexedShape(i=10, j=20, k=30)"
    assert repr(JS0["i,j"] * JS0["k,j"]) == "IndexedShape(i=2, j=10|20 by i or 10|20 by k, k=2)"
    assert repr(Shape()[""]) == "IndexedShape()"
    rows = JaggedShape.from_lengths(range(9))
    assert repr(rows["i,j"]) == "IndexedShape(i=9, j=0|1|2|3|… by i)"
    assert (S0["i,j,k"] * S0["l,k,j"].__class__((), Shape)).labels == ()


def test_sums_of_products_and_products_of_sums() -> None:
    a, b, c = Shape(2, 3), Shape(3, 4), Shape(2, 4)
    total = a["i,j"] * b["j,k"] + c["i,k"]
    assert total.labels == ("i", "j", "k")
    assert total.as_shape("k,i") == Shape(4, 2)
    factor = (a["i,j"] + a["i,j"]) * (b["j,k"] - b["j,k"])
    for _ in range(20):  # terms with the same labels stay one term
        factor = factor * (a["i,j"] + a["i,j"])
    assert factor.as_shape("i,k") == Shape(2, 4)
    with pytest.raises(ShapeError, match="'k' is missing in the term"):
        (a["i,j"] * b["j,k"] + a["i,j"]).as_shape("i,k")


def test_origins_follow_their_labels() -> None:
    a = Shape((2, 3), origin=(5, 6))
    b = Shape((3, 4), origin=(7, 8))
    assert (a["i,j"] + Shape(2, 3)["i,j"]).as_shape("j,i") == a.permute(1, 0)
    assert (a["i,j"] * b["j,k"]).as_shape("i,k") == Shape((2, 4), origin=(5, 8))
    assert (b["j,k"] * a["i,j"]).as_shape("j") == Shape(3, origin=7)
    rows = JaggedShape([Shape(2, origin=3), Shape(4, origin=5)], origin=1)
    assert (rows["i,j"] + rows["i,j"]).as_shape("i,j") == rows
    assert (rows["i,j"] * rows["i,k"]).as_shape("i,j,k").origin == (1, 0, 0)


def test_jagged_modes_depend_only_on_what_makes_a_difference() -> None:
    js = JaggedShape([[Shape(3), Shape(3)], [Shape(4), Shape(4)]])
    assert repr(js["i,j,k"]) == "IndexedShape(i=2, j=2, k=3|4 by i)"
    assert js["i,j,k"].as_shape("j,i,k") == JaggedShape([[Shape(3), Shape(4)]] * 2)
    assert js["i,j,k"].as_shape("i,k") == JaggedShape([Shape(3), Shape(4)])
    both = JaggedShape([[Shape(3), Shape(5)], [Shape(4), Shape(4)]])
    assert repr(both["i,j,k"]) == "IndexedShape(i=2, j=2, k=3|5|4|4 by i,j)"
    assert both["i,j,k"].as_shape("j,i,k") == JaggedShape(
        [[Shape(3), Shape(4)], [Shape(5), Shape(4)]]
    )
    swapped = JaggedShape([[Shape(3), Shape(4)], [Shape(5), Shape(4)]])
    assert (both["i,j,k"] + swapped["j,i,k"]).as_shape("i,j,k") == both
    with pytest.raises(ShapeError, match="label 'k' has extent"):
        both["i,j,k"] + swapped["i,j,k"]


def test_products_of_jagged_and_smooth_shapes() -> None:
    assert (JS0["i,j"] * Shape(2)["i"]).as_shape("i,j") == JS0
    assert (JS0["i,j"] * JS0["i,j"]).as_shape("i") == JaggedShape(Shape(2))
    outer = (JS0["i,j"] * JS0["k,l"]).as_shape("i,k,l,j")
    assert outer.size == 900
    assert outer == JaggedShape([[JaggedShape(Shape(n, m)) for n in (10, 20)] for m in (10, 20)])
    assert (JS0["i,j"] * Shape(3)["k"]).as_shape("k,i,j") == JaggedShape(
        [[Shape(10), Shape(20)]] * 3
    )
    with pytest.raises(SizeError, match="listed one by one"):
        (JS0["i,j"] * Shape(1 << 40)["k"]).as_shape("k,i,j")


EXTENTS = {"i": 2, "j": 3, "k": 4, "l": 5}
label_lists = st.lists(st.sampled_from("ijkl"), unique=True, max_size=4)


@given(st.lists(label_lists, min_size=1, max_size=3), st.data())
def test_products_of_smooth_shapes_are_those_of_einsum(
    operands: list[list[str]], data: st.DataObject
) -> None:
    used = sorted({label for labels in operands for label in labels})
    out = data.draw(st.permutations(used))[: data.draw(st.integers(0, len(used)))]
    expression: Any = None
    for labels in operands:
        factor = Shape([EXTENTS[label] for label in labels])[",".join(labels)]
        expression = factor if expression is None else expression * factor
    arrays = [np.ones([EXTENTS[label] for label in labels]) for labels in operands]
    spec = ",".join(map("".join, operands)) + "->" + "".join(out)
    assert expression.as_shape(",".join(out)).extents == np.einsum(spec, *arrays).shape


@given(label_lists, label_lists, st.integers(2, 5), st.data())
def test_extents_that_differ_are_always_refused(
    left: list[str], right: list[str], extent: int, data: st.DataObject
) -> None:
    shared = sorted(set(left) & set(right))
    if not shared:
        return
    label = data.draw(st.sampled_from(shared))
    a = Shape([EXTENTS[n] for n in left])[",".join(left)]
    b = Shape([extent if n == label else EXTENTS[n] for n in right])[",".join(right)]
    if extent == EXTENTS[label]:
        assert isinstance(a * b, IndexedShape)
        return
    for operation in (a.__add__, a.__sub__, a.__mul__):
        with pytest.raises(ShapeError, match=f"label '{label}' has extent {EXTENTS[label]}"):
            operation(b)


Rows = list[dict[str, int]]


def joined(left: Rows, right: Rows) -> Rows:
    """All pairs that agree on the labels they share: where a product has terms."""
    return [
        {**a, **b}
        for a, b in itertools.product(left, right)
        if all([a[label] == b[label] for label in a.keys() & b.keys()])
    ]


def labelled(indices: list[Index], labels: list[str]) -> Rows:
    return [dict(zip(labels, index, strict=True)) for index in indices]


def check_against_model(expression: IndexedShape, rows: Rows, out: list[str]) -> None:
    expected = sorted({tuple([row[label] for label in out]) for row in rows})
    try:
        result: ShapeBase = expression.as_shape(",".join(out))
    except ShapeError as error:
        assert "jagged" in str(error)  # noqa: PT017
        return
    assert list(result) == expected


@given(trees(max_depth=2, min_extent=1), st.data())
def test_jagged_permutations_and_sums_against_index_sets(tree: Any, data: st.DataObject) -> None:
    js, labels = jagged_of(tree), list("ijklm")
    labels = labels[: js.rank]
    out = data.draw(st.permutations(labels))[: data.draw(st.integers(0, js.rank))]
    expression = js[",".join(labels)]
    check_against_model(expression, labelled(tree_indices(tree), labels), out)
    check_against_model(expression + expression, labelled(tree_indices(tree), labels), out)


@given(trees(max_depth=1, min_extent=1), st.data())
def test_jagged_products_against_index_sets(tree: Any, data: st.DataObject) -> None:
    js = jagged_of(tree)
    left = list("ijk")[: js.rank]
    # The same shape again with some labels shared, and the others renamed.
    right = [data.draw(st.sampled_from([label, label.upper()])) for label in left]
    try:
        expression = js[",".join(left)] * js[",".join(right)]
    except ShapeError as error:
        assert "has extent" in str(error)  # noqa: PT017
        return
    used = [*left, *[label for label in right if label not in left]]
    out = data.draw(st.permutations(used))[: data.draw(st.integers(0, len(used)))]
    indices = tree_indices(tree)
    rows = joined(labelled(indices, left), labelled(indices, right))
    check_against_model(expression, rows, out)


def test_left_to_right_order_is_always_possible_where_nothing_is_summed() -> None:
    js = JaggedShape([[Shape(2), Shape(3, origin=0)], [Shape(4)]])
    expression = js["i,j,k"] * js["i,J,K"]
    result = expression.as_shape("i,j,k,J,K")
    assert result.size == sum([sum(row) ** 2 for row in ((2, 3), (4,))])
