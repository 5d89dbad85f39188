"""Records behave as the data classes they stand for."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any, ClassVar

import pytest

from xarraylite._records import _FEW, record

pytestmark = pytest.mark.once


@record(frozen=True, slots=True)
class Point:
    """Frozen."""

    x: int
    y: object = 0
    name: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `Point` is compared with."""

    x: int
    y: object = 0
    name: str = field(default="", repr=False, compare=False)


@record(slots=True)
class Bag:
    """Not frozen."""

    items: list[int] = field(default_factory=list)


@record(frozen=True, slots=True, eq=False)
class Base:
    """Compared by identity."""

    one: int


@record(frozen=True, slots=True, eq=False)
class Derived(Base):
    """Another field behind those of the base."""

    two: int = 2


@record(frozen=True)
class Checked:
    """With a check and a dictionary."""

    x: float

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("negative")


@pytest.mark.parametrize(
    "make",
    [
        lambda cls: cls(3),
        lambda cls: cls(3, name="p"),
        lambda cls: cls(y=[1], x=3),
    ],
)
def test_construction_is_that_of_a_data_class(make: Callable[[Any], Any]) -> None:
    made, wanted = make(Point), make(Wanted)
    assert [getattr(made, f.name) for f in fields(made)] == [
        getattr(wanted, f.name) for f in fields(wanted)
    ]
    assert repr(made) == repr(wanted).replace("Wanted", "Point")


@pytest.mark.parametrize(
    "make",
    [
        lambda cls: cls(),
        lambda cls: cls(1, 2, "p", 4),
        lambda cls: cls(1, z=2),
        lambda cls: cls(1, x=2),
    ],
)
def test_wrong_arguments_are_refused_as_by_a_data_class(make: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError) as wanted:
        make(Wanted)
    with pytest.raises(TypeError) as found:
        make(Point)
    assert str(found.value) == str(wanted.value).replace("Wanted", "Point")


def test_equal_fields_make_equal_records() -> None:
    assert Point(1, 2, "a") == Point(1, 2, "b")
    assert hash(Point(1, 2, "a")) == hash(Point(1, 2, "b"))
    assert Point(1, 2) != Point(1, 3)
    assert Point(1, 2) != Wanted(1, 2)
    assert Bag([1]) == Bag([1])
    nan = float("nan")
    assert Checked(nan) == Checked(nan)  # as the tuples of their fields are


def test_records_without_equality_are_each_their_own() -> None:
    one, other = Derived(1), Derived(1)
    assert one != other
    assert len({one, other}) == 2


def test_mutable_records_have_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Bag())


def test_frozen_records_stay_as_they_are() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x  # type: ignore[misc]
    assert not hasattr(point, "__dict__")


def test_every_record_gets_a_new_default() -> None:
    first, second = Bag(), Bag()
    first.items.append(1)
    assert second.items == []


def test_fields_of_a_base_come_first() -> None:
    made = Derived(1, 5)
    assert (made.one, made.two) == (1, 5)
    assert repr(Base(1)) == "Base(one=1)"
    assert repr(Derived(1)) == "Derived(one=1, two=2)"


def test_the_check_behind_the_constructor_is_made() -> None:
    with pytest.raises(ValueError, match="negative"):
        Checked(-1.0)


def test_dataclasses_finds_the_fields_of_records() -> None:
    told = ["name", "type", "default", "default_factory", "init", "repr", "compare", "kw_only"]
    for ours, theirs in zip(fields(Point), fields(Wanted), strict=True):
        assert [getattr(ours, of) for of in told] == [getattr(theirs, of) for of in told]
    assert Point.__match_args__ == Wanted.__match_args__
    assert (Point.__slots__, Point.__qualname__) == (Wanted.__slots__, "Point")
    assert Derived.__slots__ == ("two",)

    @dataclass(frozen=True)
    class More(Point):
        """A data class of a record."""

        z: int = 4

    assert repr(More(1, 2)) == f"{More.__qualname__}(x=1, y=2, z=4)"
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        dataclass(type("Loose", (Point,), {}))


def test_fields_of_records_with_a_dictionary() -> None:
    @record
    class Open:
        """A default, a factory, and neither."""

        x: int = field(repr=False)
        y: int = field(default=2, repr=False)
        z: list[int] = field(default_factory=list)

    assert (Open.y, hasattr(Open, "x"), hasattr(Open, "z")) == (2, False, False)
    assert vars(Open(1)) == {"x": 1, "y": 2, "z": []}


def test_what_no_record_can_be_is_refused() -> None:
    class Shared:
        """With a variable of the class."""

        x: ClassVar[int] = 1

    class Mutable:
        """With a list that all would share."""

        x: list[int] = []  # noqa: RUF012

    for cls, said in ((Shared, "Shared.x is no field but ClassVar"), (Mutable, "Mutable.x is mut")):
        with pytest.raises((TypeError, ValueError), match=said):
            record(cls)
    with pytest.raises(TypeError, match="either Loose is frozen or Point is"):
        record(type("Loose", (Point,), {}))


@pytest.mark.parametrize("made", [Point(1, (2,), "n"), Bag([1]), Checked(1.0)])
def test_records_are_copied_pickled_and_replaced(made: Any) -> None:
    copies = copy.copy(made), pickle.loads(pickle.dumps(made)), replace(made), made.__replace__()
    for again in copies:
        assert again == made
        assert again is not made
    assert replace(Point(1, 2), x=3) == Point(3, 2)


def test_the_signature_is_that_of_a_data_class() -> None:
    @record
    class Never:
        """Never made."""

        x: int
        y: object = 0

    class Other(Never):
        """With a constructor of its own."""

        def __init__(self, z: int) -> None:
            super().__init__(z)

    assert str(inspect.signature(Never)) == "(x: 'int', y: 'object' = 0) -> None"
    assert inspect.signature(Point) == inspect.signature(Wanted)
    assert list(inspect.signature(Other).parameters) == ["z"]


def test_the_constructor_is_compiled_once_and_not_for_few_calls() -> None:
    @record(slots=True)
    class Fresh:
        """Never made before."""

        x: int
        y: list[int] = field(default_factory=list)
        z: int = 3

    shared = Fresh.__init__
    assert [Fresh(1, [2]).z, Fresh(1, z=4, y=[2]).z] == [3, 4]
    assert Fresh.__init__ is shared
    for wrong in (Fresh, lambda: Fresh(1, [], 2, 3), lambda: Fresh(1, x=2)):
        with pytest.raises(TypeError):
            wrong()
    for k in range(_FEW):
        assert Fresh(x=k).y == []
    assert Fresh.__init__ is not shared
    compiled = Fresh.__init__
    assert Fresh(2).x == 2
    assert Fresh.__init__ is compiled


def test_what_checks_itself_does_so_compiled_or_not() -> None:
    for k in range(2 * _FEW):
        assert Checked(k).x == k
        with pytest.raises(ValueError, match="negative"):
            Checked(-1 - k)
