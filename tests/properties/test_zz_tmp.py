import math
import numpy as np
import pytest
from hypothesis import given, settings, HealthCheck, strategies as st
import xarraylite as xl
from xarraylite.testing import strategies as xst, assert_same_bits, assert_ulp, oracle
from tests.properties.test_expressions import check, problems
from tests.properties.test_assignment import own_trees, test_assign_any_expression_of_the_container_itself as t1, test_write_any_expression_of_the_container_into_it as t2
from tests.properties.test_views import picks, test_integer_arrays_as_index as t3
from tests.properties.test_reductions import reductions, test_like_numpy as t4
S=dict(deadline=None, suppress_health_check=list(HealthCheck), derandomize=False, database=None)
@given(problems())
@settings(max_examples=1000, **S)
def test_a(p): check(*p)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@given(own_trees())
@settings(max_examples=400, **S)
def test_c(d): t1.hypothesis.inner_test(d)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@given(own_trees())
@settings(max_examples=400, **S)
def test_d(d): t2.hypothesis.inner_test(d)
@given(picks())
@settings(max_examples=400, **S)
def test_e(d): t3.hypothesis.inner_test(d)
@given(reductions())
@settings(max_examples=400, **S)
def test_f(d): t4.hypothesis.inner_test(d)

@st.composite
def big(draw):
    shape = draw(st.sampled_from([(1500, 700), (3, 300000), (1100000,), (70, 80, 200), (300000, 3), (2, 5, 100000)]))
    n = draw(st.integers(1, 3))
    dts = [np.dtype(draw(st.sampled_from(["f8", "f4", "i4", "u1", "f2", "i8"]))) for _ in range(n)]
    ops = []
    for dt in dts:
        s = list(shape)
        for k in range(len(s)):
            if draw(st.integers(0, 4)) == 4: s[k] = 1
        ops.append(draw(xst.samples(tuple(s), dt)))
    t = draw(xst.trees(ops, depth=2))
    return t, ops, draw(st.sampled_from(["row_major", "column_major"])), draw(st.booleans())

@given(big())
@settings(max_examples=150, **S)
def test_g(d):
    t, ops, layout, rev = d
    expected = np.asarray(t.value)
    for threads in (1, 2):
        with xl.config(threads=threads):
            out = xl.XArray(np.zeros(expected.shape, expected.dtype), layout=layout)
            view = out[(slice(None, None, -1 if rev else 1),) * expected.ndim]
            view[...] = t.xl([o.operand for o in ops])
            assert_same_bits(view, expected)
