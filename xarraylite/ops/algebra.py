"""What a user's function of two scalars may be asked to do: fold in any order, or in one.

A fold that is divided among vector registers takes elements out of order, which changes nothing
(but roundings) where the function is commutative and associative.  `folds_in_any_order` proves
that, for the functions that people write: it calls the function with `Term` objects, which stand
for numbers and write down what is done with them.  Sums and products of terms are kept sorted and
flat, so equal forms mean equal values.  Comparisons are answered by what is assumed of the numbers'
order, and the function is asked under every assumption.  Whatever a term does not answer (a
function of ``math``, its truth, a comparison with a constant) ends the proof, and the fold is done
in order.  NaN and the sign of zero are left out.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

#: Operators whose operands may be exchanged and regrouped.
_REGROUPED = ("add", "mul", "and_", "or_", "xor")
_OTHERS = ("sub", "truediv", "floordiv", "mod", "pow", "lshift", "rshift")
_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")
_UNARY = ("neg", "pos", "abs", "invert")


class UnknownError(TypeError):
    """A question that a term does not answer."""


class Term:
    """A number that is not known, or what was computed of such numbers.

    Attributes
    ----------
    form : tuple
        ``("number", rank)``, where numbers of one rank are equal and larger ranks are larger
        numbers, or an operation and the forms of its operands.
    """

    __slots__ = ("form",)

    def __init__(self, form: tuple[Any, ...]) -> None:
        self.form = form

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise UnknownError

    def __index__(self) -> int:
        raise UnknownError


def _form(value: object) -> tuple[Any, ...]:
    return value.form if isinstance(value, Term) else ("constant", type(value), value)


def _operation(name: str, reflected: bool) -> Callable[[Term, object], Term]:
    def computed(self: Term, other: object) -> Term:
        parts = [_form(other), self.form] if reflected else [self.form, _form(other)]
        if name in _REGROUPED:
            flat = [q for p in parts for q in (p[1:] if p[0] == name else (p,))]
            parts = sorted(flat, key=repr)
        return Term((name, *parts))

    return computed


def _comparison(name: str) -> Callable[[Term, object], bool]:
    def compared(self: Term, other: object) -> bool:
        left, right = self.form, _form(other)
        if (left[0], right[0]) != ("number", "number"):
            raise UnknownError
        answer: bool = getattr(operator, name)(left[1], right[1])
        return answer

    return compared


def _single(name: str) -> Callable[[Term], Term]:
    return lambda self: Term((name, self.form))


for _name in (*_REGROUPED, *_OTHERS):
    _plain = _name.strip("_")
    setattr(Term, f"__{_plain}__", _operation(_name, reflected=False))
    setattr(Term, f"__r{_plain}__", _operation(_name, reflected=True))
for _name in _COMPARED:
    setattr(Term, f"__{_name}__", _comparison(_name))
for _name in _UNARY:
    setattr(Term, f"__{_name}__", _single(_name))


def folds_in_any_order(function: Callable[[Any, Any], object]) -> bool:
    """Tell whether a function is known to be commutative and associative, up to rounding.

    Of one that handles exceptions nothing is known: it may handle the answer that there is none.
    """
    if getattr(getattr(function, "__code__", None), "co_exceptiontable", b""):
        return False
    try:
        for ranks in itertools.product(range(3), repeat=3):
            x, y, z = (Term(("number", rank)) for rank in ranks)
            if _form(function(x, y)) != _form(function(y, x)):
                return False
            if _form(function(function(x, y), z)) != _form(function(x, function(y, z))):
                return False
    except Exception:
        return False
    return True


def known_fold(function: Callable[[Any, Any], object]) -> str:
    """Return which of the table's operations a function is that folds in any order, or nothing."""
    form = _form(function(Term(_LOW), Term(_HIGH)))
    return _KNOWN.get(form, "")


_LOW, _HIGH = ("number", 0), ("number", 1)
_KNOWN = {
    _LOW: "minimum",
    _HIGH: "maximum",
    ("add", _LOW, _HIGH): "add",
    ("mul", _LOW, _HIGH): "multiply",
}
