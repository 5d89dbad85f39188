"""Random numbers are NumPy's, in containers."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.testing import assert_same_bits


def test_a_seed_gives_numpys_numbers() -> None:
    ours, theirs = xl.random.default_rng(5), np.random.default_rng(5)
    for name, args in (
        ("random", (4,)),
        ("normal", (0.0, 2.0, (2, 3))),
        ("integers", (0, 9, 5)),
        ("choice", (np.arange(5), 3)),
        ("permutation", (6,)),
    ):
        made, wanted = getattr(ours, name)(*args), getattr(theirs, name)(*args)
        assert type(made) is xl.XArray
        np.testing.assert_array_equal(np.asarray(made), wanted)
        assert made.dtype == wanted.dtype
    assert isinstance(xl.random.default_rng(ours), xl.random.Generator)
    assert "standard_normal" in dir(ours)
    assert float(ours.random()) == theirs.random()


def test_the_older_functions_share_numpys_state() -> None:
    xl.random.seed(3)
    made = [xl.random.rand(2, 2), xl.random.randn(3), xl.random.randint(0, 9, 4)]
    np.random.seed(3)  # noqa: NPY002
    wanted = [np.random.rand(2, 2), np.random.randn(3), np.random.randint(0, 9, 4)]  # noqa: NPY002
    for ours, theirs in zip(made, wanted, strict=True):
        assert xl.array_equal(ours, theirs)
    with pytest.raises(AttributeError, match="no attribute 'no_such'"):
        _ = xl.random.no_such


def test_containers_are_shuffled_in_place_and_given_as_parameters() -> None:
    a, plain = xl.arange(9), np.arange(9)
    before = a + 0
    assert xl.random.default_rng(1).shuffle(x=a) is None
    np.random.default_rng(1).shuffle(plain)
    assert xl.array_equal(a, plain)
    assert before.tolist() == list(range(9))
    means = xl.asarray([0.0, 100.0])
    drawn = xl.random.default_rng(1).normal(means, 0.0)
    assert drawn.tolist() == [0.0, 100.0]
    out = xl.zeros(3)
    later = out + 0
    assert xl.random.default_rng(1).random(3, out=out) is out
    assert xl.array_equal(out, np.random.default_rng(1).random(3))
    assert later.tolist() == [0, 0, 0]


@pytest.mark.parametrize("x", [xl.optional([1, 2, None, 4]), xl.XJagged([[1], [2, 3]])])
def test_what_is_no_one_array_is_not_shuffled(x: Any) -> None:
    before = repr(x)
    for shuffle in (xl.random.shuffle, xl.random.default_rng(1).shuffle):
        with pytest.raises(xl.DTypeError, match=f"random.shuffle: got {type(x).__name__}; "):
            shuffle(x)
    with pytest.raises(xl.DTypeError, match=f"random.random: got {type(x).__name__}; "):
        xl.random.default_rng(1).random(out=x)
    assert repr(x) == before


def test_an_operand_may_be_the_result_of_a_permutation() -> None:
    a, plain = xl.arange(6), np.arange(6)
    xl.random.default_rng(1).permuted(a, out=a)
    np.random.default_rng(1).permuted(plain, out=plain)
    assert xl.array_equal(a, plain)


def test_generators_pickle_spawn_and_refuse() -> None:
    rng = xl.random.default_rng(2)
    again = pickle.loads(pickle.dumps(rng))
    assert xl.array_equal(rng.random(3), again.random(3))
    assert len(rng.spawn(2)) == 2
    assert isinstance(xl.random.Generator(np.random.PCG64(1)), xl.random.Generator)
    assert repr(xl.random.RandomState(np.random.PCG64(1))) == "RandomState(PCG64)"
    with pytest.raises(xl.DTypeError, match="a bit generator"):
        xl.random.Generator(3)
    with pytest.raises(ValueError, match=r"random.choice\("):
        rng.choice(xl.zeros(0), 3)


def test_generators_of_an_older_one_share_its_state() -> None:
    older, theirs = xl.random.RandomState(7), np.random.RandomState(7)
    wanted = np.random.Generator(theirs._bit_generator)
    assert float(xl.random.default_rng(older).random()) == wanted.random()
    assert float(older.rand()) == theirs.rand()


def test_derived_classes_have_methods_and_attributes_of_their_own() -> None:
    class Halved(xl.random.Generator):
        def random(self, *args: Any) -> Any:
            return super().random(*args) * 0.5

        def twice(self) -> Any:
            return self.random() * 4

    ours, theirs = Halved(np.random.PCG64(1)), np.random.Generator(np.random.PCG64(1))
    ours.label = "one"
    assert ours.label == "one"
    assert (ours.random(), ours.twice()) == (theirs.random() * 0.5, theirs.random() * 2)
    assert isinstance(ours.normal(size=2), xl.XArray)


def test_other_libraries_know_them_as_numpys() -> None:
    stats = pytest.importorskip("scipy.stats")
    ours, theirs = xl.random.default_rng(3), np.random.default_rng(3)
    assert isinstance(ours, np.random.Generator)
    assert np.random.default_rng(ours) is ours
    assert_same_bits(
        stats.norm.rvs(size=3, random_state=ours), stats.norm.rvs(size=3, random_state=theirs)
    )
    for seed in (7, np.random.RandomState(7)):
        older = xl.random.RandomState(xl.random.RandomState(seed))
        assert isinstance(older, np.random.RandomState)
        assert_same_bits(older.randn(2), np.random.RandomState(7).randn(2))
        assert copy.deepcopy(older).rand() == older.rand()
