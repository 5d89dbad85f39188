"""Scalar bodies that are run on terms: choices, the few functions, what cannot be read."""

from __future__ import annotations

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.hlo.test_export import close, operand
from xarraylite.arrays.expression import apply
from xarraylite.hlo.export import bodies
from xarraylite.hlo.export.terms import Writer
from xarraylite.ops.table import OPS


def term(values):
    return Writer().constant(np.asarray(values))


@pytest.mark.parametrize(
    ("template", "opcodes"),
    [
        ("{0} if {0} > 0 else -{0}", ["compare", "negate", "select"]),
        ("not ({0} < {0})", ["compare", "not"]),
        ("clip_i({0}, {0}, {0})", ["compare", "select", "compare", "select"]),
        ("np.int64({0})", ["convert"]),
    ],
)
def test_a_body_writes_the_operations_that_it_names(template, opcodes):
    x = term(np.int32([1, -2]))
    made = bodies.run(template, (x, x))
    written = [instruction.opcode for instruction in x.writer.instructions]
    assert [name for name in written if name not in ("constant", "broadcast")] == opcodes
    assert made.shape == (2,)


def test_choices_between_numbers_become_constants():
    x = term(np.float32([1, -2]))
    made = bodies.run("np.int32(1) if {0} > 0 else np.int32(-1)", (x,))
    assert made.dtype == np.int32
    assert made.instruction.opcode == "select"
    assert bodies.run("type({0})(3)", (x,)).dtype == np.float32


def test_what_is_operators_alone():
    assert bodies.is_plain("{1} if {0} else {2}")
    assert bodies.is_plain("{0}.real")
    assert not bodies.is_plain("signbit_{t}({0})")


def test_bodies_of_unknown_functions_are_refused():
    with pytest.raises(NameError, match="sin_f64"):
        bodies.run("sin_{t}({0})", (term(1.0),))


@together("name", ["less", "equal", "greater_equal", "not_equal"])
@together("dtypes", [("int64", "uint64"), ("uint64", "int64")])
def test_integers_of_different_signedness_are_compared_exactly(name, dtypes):
    args = [operand(dtype, 3 * k) for k, dtype in enumerate(dtypes)]
    expression = apply(OPS[name], *args)
    assert close(xl.to_hlo(expression)(*args), xl.eval(expression))
