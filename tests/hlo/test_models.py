"""Ten models as JAX lowers them: its numbers, and again from the text that we print."""

from __future__ import annotations

import numpy as np

import xarraylite as xl
from tests.cases import together
from tests.hlo import oracle


@together("name", list(oracle.index("models")))
def test_model(name):
    case = oracle.load("models", name, "unoptimised")
    module = xl.hlo.parse(case.text)
    again = xl.hlo.parse(module.to_text("short_parsable"))
    for program in (module, again):
        got = oracle.leaves(program(*case.inputs))
        for mine, want, tolerance in zip(got, case.outputs, case.tolerances, strict=True):
            assert oracle.agree(np.asarray(mine), want, tolerance)
