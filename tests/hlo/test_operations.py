"""Every opcode's values against JAX: single functions of ``jax.lax``, many shapes and dtypes.

Special values, integer edges, empty arrays, windows, gathers and scatters out of bounds, orders
with NaN, random bits.  The engine is NumPy's: what is tested here is what operations mean.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.hlo import oracle
from xarraylite._lazy_import import uncollected

pytestmark = pytest.mark.once

OPCODES_OF_PROGRAMS = """
parameter constant broadcast get-tuple-element add multiply compare reshape call select tuple
subtract convert slice or xor reduce iota shift-right-logical maximum and transpose divide
shift-left bitcast-convert dot exponential while negate custom-call sign tanh reduce-window
dynamic-update-slice abs log-plus-one sqrt minimum remainder sort topk gather scatter dynamic-slice
conditional convolution fft reverse concatenate shift-right-arithmetic pad reduce-precision
is-finite round-nearest-even rsqrt exponential-minus-one power cbrt floor ceil sine cosine atan2 erf
not popcnt opt-barrier count-leading-zeros rng-bit-generator fusion copy bitcast copy-start
copy-done all-reduce all-reduce-start all-reduce-done all-gather all-gather-start all-gather-done
reduce-scatter all-to-all collective-permute collective-permute-start collective-permute-done
async-start async-update async-done partition-id replica-id after-all infeed outfeed send recv map
clamp logistic log complex real imag get-dimension-size set-dimension-size triangular-solve cholesky
select-and-scatter
"""
"""What JAX lowers to, and what dumps of optimised programs have besides."""

OUTSIDE = frozenset(("infeed", "outfeed", "recv", "send"))
"""What takes part in what goes on outside of a program has no values."""

ANYTHING = frozenset(("constant", "custom-call", "parameter"))
"""What has the shape that the text says."""

GROUPS = sorted({name.split("_")[0] for name in oracle.index("operations")})


@together("group", GROUPS)
def test_operation(group):
    tested = 0
    with xl.config(engine="reference"), warnings.catch_warnings(), uncollected():
        warnings.simplefilter("ignore")
        for name in oracle.index("operations"):
            if name.split("_")[0] != group:
                continue
            case = oracle.load("operations", name, "unoptimised")
            got = oracle.leaves(xl.hlo.parse(case.text)(*case.inputs))
            for mine, want, tolerance in zip(got, case.outputs, case.tolerances, strict=True):
                assert oracle.agree(np.asarray(mine), want, tolerance), name
            tested += 1
    assert tested


def test_every_opcode_of_programs_is_tested():
    """Its shape, what breaks its rule (`test_verify`), and its values against JAX."""
    ruled = (oracle.DATA / "rules.txt").read_text(encoding="utf-8")
    texts = [(oracle.DATA / "collectives.json").read_text(encoding="utf-8").replace("\\n", "\n")]
    for archive in ("operations", "modules", "models"):
        for which in ("unoptimised", "optimised"):
            texts += [oracle.load(archive, n, which).text for n in oracle.texts(archive, which)]
    for file in ("test_evaluate.py", "evaluation/test_lapack.py"):
        texts.append((Path(__file__).parent / file).read_text(encoding="utf-8"))
    valued = set(re.findall(r" ([a-z][a-z0-9\-]*)\(", "\n".join(texts)))
    for opcode in OPCODES_OF_PROGRAMS.split():
        assert opcode in valued or opcode in OUTSIDE, opcode
        case = rf"^\S.* {opcode}\(.*\n.*\b{opcode}\(.*\n.+"  # a good line, a bad one, the rule
        assert re.search(case, ruled, re.MULTILINE) or opcode in ANYTHING, opcode
