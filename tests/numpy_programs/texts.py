"""Programs that have names, dates or records beside their numbers: these stay NumPy's arrays."""

from __future__ import annotations

import io
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

Xp = ModuleType


def totals_by_name(xp: Xp) -> Any:
    names = xp.array(["bob", "amy", "cat", "bob", "amy"])
    sales = xp.array([3.0, 4.0, 5.0, 1.0, 2.0])
    found, inverse, counts = xp.unique(names, return_inverse=True, return_counts=True)
    totals = xp.bincount(inverse, weights=sales)
    lines = [f"{n:<5}{t:>7.2f}{c:>3d}" for n, t, c in zip(found, totals, counts, strict=True)]
    order = xp.lexsort((sales, names))
    return lines, found[xp.argmax(totals)], sales[names == "bob"].mean(), names[order], sales[order]


def chosen_words(xp: Xp) -> Any:
    v = xp.asarray([1.0, -2.0, 0.0])
    signs = xp.where(v > 0, "up", xp.where(v < 0, "down", "flat"))
    more = xp.concatenate([signs, xp.array(["end"])])
    known = xp.isin(more, ["up", "end"])
    return signs, more, known, xp.repeat(more[:2], 2), xp.sort(more), xp.argsort(more), v[known[:3]]


def records(xp: Xp) -> Any:
    people = xp.array(
        [("Ann", 30, 1.7), ("Bob", 25, 1.8)], dtype=[("name", "U10"), ("age", "i4"), ("h", "f8")]
    )
    older = people[people["age"] > 26]
    empty = xp.zeros(2, dtype=[("x", "i4"), ("y", "f4")])
    empty["x"] = [1, 2]
    heights = xp.asarray(people["h"])
    by_age = xp.sort(people, order="age"), xp.argsort(people, order=["age", "name"])
    return (
        by_age,
        [r["name"] for r in older],
        heights * 2,
        xp.sum(people["h"]),
        xp.sqrt(people["h"]) + people["age"],
        xp.maximum(people["h"], xp.ones(2)).mean(),
        xp.multiply(people["h"], 2, out=people["h"]) is people["h"] or people["h"].tolist(),
        int(empty["x"].sum()),
        people.dtype.names,
    )


def dates(xp: Xp) -> Any:
    days = xp.arange("2024-01-01", "2024-01-06", dtype="datetime64[D]")
    counts = xp.arange(5.0)
    late = days > xp.datetime64("2024-01-03")
    busy = int(xp.busday_count("2024-01-01", "2024-02-01"))
    return days, counts[late], busy, days[1:] - days[:-1]


def texts_of_numbers(xp: Xp) -> Any:
    i = xp.asarray([3, 10, 2])
    words = i.astype(str)
    board = xp.full((2, 2), " ")
    board[0, 1] = "X"
    read = xp.loadtxt(io.StringIO("a b\nc d"), dtype=str)
    names = xp.vectorize(lambda n: "even" if n % 2 == 0 else "odd")(i)
    return (
        words,
        xp.asarray(xp.array(["1", "2"]).astype(float)),
        xp.asarray(["4", "5"], dtype=int),
        bool(xp.isreal(words).any() or xp.iscomplex(words).any()),
        board,
        names,
        read,
    )


def digits(xp: Xp) -> Any:
    """Of a number that is written out."""
    told = [str(n) for n in xp.asarray([12, 7])]
    return (
        [*"2357"] == xp.array([*"2357"]).tolist(),
        int((xp.array([*"2357"]).astype(int) ** 2).sum()),
        xp.array(("a", "bcd")).dtype,
        xp.array(told),
        xp.array(["1", b"2"]),
    )


def drawn_words(xp: Xp) -> Any:
    rng = xp.random.default_rng(5)
    return (
        rng.choice(["rain", "sun"], size=4),
        xp.char.upper(xp.array(["a", "b"])),
        xp.empty(2, object),
    )


def moved_words(xp: Xp) -> Any:
    words, grid = xp.array(["ab", "c", "", "d"]), xp.array([["x", "y"], ["z", "w"]])
    named = xp.zeros([2], "U3")
    named[0] = "abcd"
    return (
        [xp.take(words, [2, 0]), xp.copy(words), xp.split(words, 2), xp.array_split(words, 3)],
        [
            int(xp.count_nonzero(words)),
            int(xp.argmax(words)),
            xp.hstack([words[:1], xp.array([1])]),
        ],
        [xp.diagonal(grid), xp.meshgrid(words[:2], [1])[0], xp.vsplit(grid, 2)],
        [xp.empty_like(words).shape, xp.zeros_like(words), xp.full_like(words, "z"), named],
        [xp.array_equal(words, words.copy()), xp.select([xp.arange(4) < 2], [words], "?")],
    )


def days_and_numbers(xp: Xp) -> Any:
    first = xp.datetime64("2024-02-27")
    days = first + xp.arange(4)
    return days, xp.arange(2) + first, xp.timedelta64(2, "h") * xp.array([1, 3]), days[-1] - first


def board(xp: Xp) -> Any:
    b = xp.full((3, 3), " ")
    for row, column, mark in [(0, 0, "X"), (1, 1, "O"), (0, 1, "X"), (2, 2, "O"), (0, 2, "X")]:
        b[row, column] = mark
    lines = [*b, *b.T, xp.diag(b), xp.diag(xp.fliplr(b))]
    xp.fill_diagonal(b, "-")
    xp.put(b, [1], "?")
    return [bool((line == "X").all()) for line in lines], b.tolist(), xp.pad(b, 1).shape


def sums_of_time(xp: Xp) -> Any:
    waits = xp.array([90, 30, 60], "m8[m]")
    late = waits > xp.timedelta64(45, "m")
    return (
        xp.cumsum(waits).tolist(),
        (-waits).tolist(),
        xp.isnan(waits).tolist(),
        (xp.divide(waits, xp.timedelta64(1, "h"))).tolist(),
        xp.result_type(waits, "m8[s]"),
        xp.any(waits).item(),
        waits[late].tolist(),
    )


def written_where_no_numbers_are(xp: Xp) -> Any:
    days, x = (
        xp.arange("2024-01-01", "2024-01-04", dtype="M8[D]"),
        xp.ma.array([4.0, 9.0], mask=[0, 1]),
    )
    same = xp.add(days, xp.timedelta64(2, "D"), out=days, where=xp.asarray([True, False, True]))
    added = xp.add(x, xp.ones(2), out=x)
    return days, same is days, x.tolist(), added is x, xp.multiply(2, x, x).tolist()


def masked_measurements(xp: Xp) -> Any:
    x = xp.ma.array([[4.0, 1.0], [2.0, 9.0]], mask=[[0, 1], [0, 0]])
    roots = xp.sqrt(x)
    return (
        roots.filled(-1.0).tolist(),
        float(xp.mean(x)),
        float(xp.sum(x)),
        xp.max(x, axis=0).tolist(),
        (xp.ones((2, 2)) * x).tolist(),
        xp.add(xp.ones((2, 2)), x).filled(0).tolist(),
        xp.sort(x, axis=None).tolist(),
        xp.concatenate([x, x]).shape,
        xp.where(x)[0].tolist(),
    )


def fractions_and_large_numbers(xp: Xp) -> Any:
    thirds = xp.array([Fraction(1, 3), Fraction(1, 6)], dtype=object)
    large = xp.array([2**70, 1], dtype=object)
    kept = xp.asarray(thirds)
    pairs = xp.array([[1, 1], [1, 0]], dtype=object)
    return (
        xp.linalg.matrix_power(pairs, 120)[0, 1],
        xp.einsum("ij,jk", pairs, pairs).tolist(),
        xp.linalg.multi_dot([pairs, pairs, pairs]).tolist(),
        thirds.sum(),
        xp.sum(thirds),
        xp.max(thirds),
        xp.dot(thirds, thirds),
        xp.cumsum(thirds).tolist(),
        xp.add.reduce(large),
        xp.multiply(large, 2).tolist(),
        xp.sort(large).tolist(),
        kept.dtype == object,
    )


def written_in_numpys_memory(xp: Xp) -> Any:
    memory = np.arange(6.0)  # of a file, say
    xp.copyto(memory, xp.asarray([9.0]), where=memory > 4)
    xp.put(memory, [0, 1], xp.asarray([7.0, 8.0]))
    xp.add.at(memory, [2, 2], 1.0)
    xp.putmask(memory, memory == 3, -1)
    return memory.tolist()


def dtypes_of_no_numbers(xp: Xp) -> Any:
    return (
        xp.can_cast("i4", "S4"),
        xp.can_cast("U3", "U5"),
        xp.promote_types("i4", "S8"),
        xp.promote_types(">i8", "<c8"),
        xp.issubdtype("S1", xp.bytes_),
        xp.issubdtype("M8[D]", xp.datetime64),
        xp.issubdtype(object, xp.number),
        xp.fromiter(((k, k + 1) for k in range(3)), dtype=xp.dtype((int, 2))),
    )


def words_that_come_one_by_one(xp: Xp) -> Any:
    names, found = xp.array([]), []
    for word in ("bob", xp.str_("amy")):
        names = xp.append(names, word)
        found.append(xp.hstack([xp.array([1.5]), word]))
    longer = xp.vectorize(str.casefold, otypes=["U3"])(xp.array(["ßßß", "b"]))
    kinds = xp.concatenate([xp.repeat("oak", 2), xp.tile("fir", 2)]), xp.result_type("U1", int)
    return names, found, longer, xp.append([], "x"), xp.append(xp.arange(2), b"y"), kinds


def rows_of_other_things(xp: Xp) -> Any:
    grid, counts = xp.array([["a", "b"], ["c", "d"]]), xp.array([[1, 2], [30, 4]])
    large = xp.apply_along_axis(lambda row: np.ma.masked_greater(np.asarray(row), 2), 1, counts)
    least = xp.apply_along_axis(lambda row: row.min(), 1, np.ma.masked_less(np.array(counts), 3))
    return (
        xp.apply_along_axis("".join, 1, grid),
        xp.apply_along_axis(lambda row: str(row.sum()), 1, counts),
        [large.tolist(), least.tolist()],
        [xp.eye(2, 3, 1, str), xp.eye(2, dtype="S3")],
        xp.arange(np.timedelta64(3, "D")),
        [xp.full(2, 0.5, dtype).tolist() for dtype in (object, ">f4", "U3")],
        xp.full((1, 2), 1.5, [("weight", int), ("cost", float)]).tolist(),
    )


def states_of_masked_observations(xp: Xp) -> Any:
    states, seen = xp.zeros((2, 2)), np.ma.array([1.0, 2.0])
    states[0], states[:, 1] = seen * 3, seen
    return states


def several_axes_of_other_things(xp: Xp) -> Any:
    boxes = [xp.array([[["c"]], [["a"]]]), xp.array([[[3]], [[None]]], dtype=object)]
    boxes += [np.array([[["2020-02-01"]], [["2021-01-01"]]], "M8[D]")]
    masked = np.ma.masked_equal(np.array([[[3]], [[1]]]), 1)
    return (
        [xp.squeeze(box, (1, 2)) for box in boxes],
        xp.squeeze(masked, (1, 2)).tolist(),
        xp.max(boxes[2], axis=(0, 1)),
        xp.count_nonzero(boxes[1], (0, 1)).tolist(),
        xp.sum(masked, (0, 2)).tolist(),
        [xp.atleast_1d("ab"), xp.atleast_2d("ab").shape],
    )


PROGRAMS = [totals_by_name, chosen_words, records, dates, texts_of_numbers, digits, drawn_words]
PROGRAMS += [moved_words, days_and_numbers, words_that_come_one_by_one, rows_of_other_things]
PROGRAMS += [board, sums_of_time, masked_measurements, fractions_and_large_numbers]
PROGRAMS += [several_axes_of_other_things]
PROGRAMS += [written_in_numpys_memory, written_where_no_numbers_are]
