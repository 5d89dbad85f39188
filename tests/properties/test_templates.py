"""The same few expressions over and over, of operands that change, against NumPy.

What is remembered of an expression (kinds, bound plans, replays, memoised calls, traces) is right
for the next operands too, or is not used: other extents, other layouts and dtypes, operands that
are the same or lie in each other, destinations that are read, writes in between.  Values are
small whole numbers, so every result is exact and every bit is decided.

``XARRAYLITE_HYPOTHESIS_PROFILE=deep pytest tests/properties/test_templates.py`` runs for hours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import xarraylite as xl
from xarraylite._config import settings as configured
from xarraylite.testing import assert_same_bits
from xarraylite.transforms import natives

Template = Callable[..., Any]

LEAVES = ("a", "b", "c", "a[1:]", "a[:-1]", "b[:2]", "a[0]", "a[:1]", "b[..., 1:]")
ONE = (
    "(-{0})",
    "xp.abs({0})",
    "xp.square({0})",
    "({0} * s)",
    "({0} + 1)",
    "{0}[::-1]",
    "{0}[1:]",
    "{0}[:2]",
    "{0}[..., 0]",
    "{0}[None]",
    "{0}[[0, -1]]",
    "{0}[{0} > 0]",
    "{0}.T",
    "{0}.copy()",
    "{0}.reshape(-1)",
    "{0}.sum()",
    "{0}.max()",
    "xp.sum({0}, axis=0)",
    "xp.sum({0}, axis=-1, keepdims=True)",
    "xp.max({0}, axis=0, keepdims=True)",
    "xp.cumsum({0})",
    "xp.argmax({0})",
    "xp.any({0} > 1)",
    "xp.clip({0}, -1, s)",
    "xp.where({0} > 0, {0}, s)",
    "xp.roll({0}, 1)",
    "xp.flip({0})",
    "xp.diff({0})",
    "xp.sort({0})",
    "xp.repeat({0}, 2)",
    "xp.pad({0}, 1)",
    "xp.tril({0})",
    "xp.take({0}, [0, 0])",
    "xp.stack([{0}, {0}])",
    "xp.concatenate([{0}, {0}])",
    "xp.outer({0}, {0})",
)
TWO = (
    "({0} + {1})",
    "({0} - {1})",
    "({0} * {1})",
    "xp.maximum({0}, {1})",
    "xp.minimum({0}, {1})",
    "xp.where({0} > 1, {1}, s)",
    "(({0} == {1}) * 1.0)",
    "xp.add({0}, {1})",
    "(xp.dot({0}.reshape(-1), {1}.reshape(-1)) + 0)",
)
SOURCES = st.recursive(
    st.sampled_from(LEAVES),
    lambda parts: (
        st.builds(str.format, st.sampled_from(ONE), parts)
        | st.builds(str.format, st.sampled_from(TWO), parts, parts)
    ),
    max_leaves=4,
).filter(lambda source: source not in LEAVES)
DTYPES = ("float64", "float64", "float64", "float32", "int64", "int32", "int16")
EXTENTS = st.sampled_from((2, 3, 1, 4, 5, 17))
SHAPES = st.lists(EXTENTS, min_size=1, max_size=3).map(tuple)
LAYOUTS = ("row-major", "part", "step", "reversed", "column-major", "tiled", "rank", "lazy", "lent")
SCALARS = st.sampled_from((2, 1, 3.0, np.float64(4.0), True))
WRITES = (
    "x[...] = 2",
    "x[1:] = x[:-1]",
    "x[::2] -= x[:1]",
    "x[0] = x[-1]",
    "x += x",
    "x[...] = -x",
    "x[...] = y",
    "x[...] = y + 1",
    "x[..., 1:] = y[..., [0, -1]][..., 1:] if y.ndim else y",
    "x[...] = x[::-1][[0] * len(x)]",
    "x.sort()",
)
WAYS = ("new", "twice", "held", "assigned", "added", "noalias", "jit", "into", "into", "container")


class Pair(NamedTuple):
    """One array twice: ours, and NumPy's."""

    ours: Any
    theirs: Any


def parts(shape: tuple[int, ...], first: int, step: int) -> tuple[slice, ...]:
    """Elements of an array with ``2 * n + 1`` for every extent ``n``."""
    if step < 0:
        return tuple(slice(n, 0, -1) for n in shape)
    return tuple(slice(first, first + step * n, step) for n in shape)


def made(values: Any, layout: str) -> Pair:
    """Return values of odd extents, or a part of them, in a layout."""
    inner = tuple(n // 2 for n in values.shape)
    if layout in ("part", "step", "reversed"):
        first, step = {"part": (1, 1), "step": (0, 2), "reversed": (0, -1)}[layout]
        key = parts(inner, first, step)
        return Pair(xl.asarray(values)[key], values.copy()[key])
    values = np.array(values[parts(inner, 0, 1)])
    if layout == "column-major":
        return Pair(xl.asarray(values, layout="column_major"), values)
    if layout == "tiled" and values.ndim == 2:
        return Pair(xl.asarray(values, layout="{1,0:T(2,2)}"), values)
    if layout == "rank":
        return Pair(xl.XTensor(values), values)
    if layout == "lazy":
        return Pair(xl.asarray(values) * 2 + 1, np.asarray(values * 2 + 1))
    if layout == "lent":
        lent = values.copy()
        return Pair(xl.adapt(lent), lent)
    return Pair(xl.asarray(values), values)


def large(values: Any) -> bool:
    """Whether sums and products of the values may be inexact, or too many to be tried."""
    return bool(np.size(values) > 5000 or np.abs(values).max(initial=0) > 1000)


class Templates(RuleBasedStateMachine):
    """Some templates, arrays that live on, and results that are kept."""

    @initialize(
        sources=st.lists(SOURCES, min_size=1, max_size=3, unique=True),
        dtype=st.sampled_from(DTYPES),
        machine_code=st.booleans(),
        tiers=st.booleans(),
    )
    def begin(self, sources: list[str], dtype: str, machine_code: bool, tiers: bool) -> None:
        self.templates: list[Template] = [
            eval(f"lambda xp, a, b, c, s: {source}") for source in sources
        ]
        self.traced = [xl.jit(lambda *x, f=f: f(xl, *x)) for f in self.templates]
        self.dtype = dtype
        self.pool: list[Pair] = []
        self.held: list[Pair] = []
        self.installed = bool(natives._replaced)
        self.engine = configured.engine
        if tiers and self.engine == "compiled":
            xl.config(engine="auto")
        if machine_code and configured.engine != "reference":
            natives.install()

    def operand(self, data: st.DataObject, shape: tuple[int, ...]) -> Pair:
        """An array of the shape or one that is stretched to it; often one that was used before."""
        own = data.draw(st.sampled_from((shape, shape, shape, shape[-1:], (), (1,) * len(shape))))
        known = [pair for pair in self.pool if pair.theirs.shape == own]
        if known and data.draw(st.integers(0, 2)):
            return known[data.draw(st.integers(0, len(known) - 1))]
        layout = data.draw(st.sampled_from(LAYOUTS))
        seed = data.draw(st.integers(0, 99))
        values = np.random.default_rng(seed).integers(-4, 5, tuple(2 * n + 1 for n in own))
        pair = made(np.asarray(values).astype(self.dtype), layout)
        self.pool.append(pair)
        return pair

    @rule(
        data=st.data(), shape=SHAPES, ways=st.lists(st.sampled_from(WAYS), min_size=1, max_size=4)
    )
    def evaluate(self, data: st.DataObject, shape: tuple[int, ...], ways: list[str]) -> None:
        """One template of a few sets of operands that broadcast to the same shape."""
        number = data.draw(st.integers(0, len(self.templates) - 1))
        for way in ways:
            self.once(data, shape, number, way)

    def once(self, data: st.DataObject, shape: tuple[int, ...], number: int, way: str) -> None:
        template = self.templates[number]
        a = self.operand(data, shape)
        b = a if data.draw(st.integers(0, 3)) == 3 else self.operand(data, shape)
        c, s = self.operand(data, shape), data.draw(SCALARS)
        mine, numpys = (a.ours, b.ours, c.ours, s), (a.theirs, b.theirs, c.theirs, s)
        try:
            numpys_result = template(np, *numpys)
        except (ValueError, TypeError, IndexError):
            self.refused(template, mine)
            return
        expected = np.array(numpys_result)
        if large(expected):
            return
        try:
            result = template(xl, *mine)
        except xl.AxisError as error:
            if "rank 0" not in str(error):  # of which NumPy takes axis 0
                raise
            return
        if way == "held" and any(np.may_share_memory(numpys_result, x) for x in numpys):
            return  # a view shows what is written
        if way == "jit":
            try:
                result = self.traced[number](*mine)
            except xl.TracedValueError:  # the shape depends on values
                return
        getattr(self, "by_" + way, self.by_new)(result, expected, a)

    def refused(self, template: Template, mine: tuple[Any, ...]) -> None:
        """What NumPy refuses we refuse, by the time it is evaluated."""
        try:
            result = xl.eval(template(xl, *mine))
        except (ValueError, TypeError, IndexError):
            return
        raise AssertionError(f"NumPy refuses what gave {result!r}")

    def by_new(self, result: Any, expected: Any, a: Pair) -> None:
        assert_same_bits(result, expected)

    def by_twice(self, result: Any, expected: Any, a: Pair) -> None:
        assert_same_bits(xl.eval(result), expected)
        assert_same_bits(xl.eval(result), expected)

    def by_held(self, result: Any, expected: Any, a: Pair) -> None:
        self.held.append(Pair(result, expected))

    def by_assigned(self, result: Any, expected: Any, a: Pair) -> None:
        to = xl.zeros(expected.shape, dtype=expected.dtype)
        to[...] = result
        assert_same_bits(to, expected)

    def by_added(self, result: Any, expected: Any, a: Pair) -> None:
        if expected.dtype == bool:
            return
        to = xl.ones(expected.shape, dtype=expected.dtype)
        to += result
        assert_same_bits(to, expected + np.ones_like(expected))
        self.pool.append(Pair(to, np.asarray(expected + np.ones_like(expected))))

    def by_noalias(self, result: Any, expected: Any, a: Pair) -> None:
        to = xl.empty(expected.shape, dtype=expected.dtype)
        xl.noalias(to)[...] = result
        assert_same_bits(to, expected)

    def by_container(self, result: Any, expected: Any, a: Pair) -> None:
        to = xl.zeros((2,), dtype=expected.dtype)
        to.assign(result)
        assert_same_bits(to, expected)
        self.pool.append(Pair(to, expected.copy()))

    def by_into(self, result: Any, expected: Any, a: Pair) -> None:
        """Into what it reads, where it fits."""
        fits = expected.shape in (a.theirs.shape, a.theirs.shape[1:], ())
        if not fits or a.theirs.ndim == 0 or expected.dtype != a.theirs.dtype:
            assert_same_bits(result, expected)
            return
        a.ours[...] = result
        a.theirs[...] = expected
        assert_same_bits(a.ours, a.theirs)

    @precondition(lambda self: self.pool)
    @rule(data=st.data(), how=st.sampled_from(WRITES))
    def write(self, data: st.DataObject, how: str) -> None:
        ours, theirs = self.pool[data.draw(st.integers(0, len(self.pool) - 1))]
        other = self.operand(data, theirs.shape)
        if theirs.size == 0 or theirs.ndim == 0 or large(theirs * 2):
            return
        for x, y in zip((ours, theirs), other, strict=True):
            exec(how, {"x": x, "y": y})
        assert_same_bits(ours, theirs)

    @precondition(lambda self: self.pool)
    @rule(data=st.data())
    def view(self, data: st.DataObject) -> None:
        pair = self.pool[data.draw(st.integers(0, len(self.pool) - 1))]
        keys = [np.s_[1:], np.s_[:-1], np.s_[::2], np.s_[..., ::-1], np.s_[...]]
        if pair.theirs.ndim:
            key: Any = data.draw(st.sampled_from(keys))
            self.pool.append(Pair(pair.ours[key], pair.theirs[key]))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        pair = self.held[data.draw(st.integers(0, len(self.held) - 1))]
        assert_same_bits(pair.ours, pair.theirs)

    @precondition(lambda self: len(self.pool) > 3)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        del self.pool[data.draw(st.integers(0, len(self.pool) - 1))]

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            xl.config(engine=self.engine)
        try:
            for pair in getattr(self, "held", []) + getattr(self, "pool", []):
                assert_same_bits(pair.ours, pair.theirs)
        finally:
            if not getattr(self, "installed", True):
                natives.remove()


TestTemplates = Templates.TestCase
TestTemplates.settings = settings(max_examples=settings().max_examples // 3, stateful_step_count=40)
