from hypothesis import given, settings, HealthCheck, strategies as st
from tests.properties.test_expressions import check, problems
from tests.properties.test_assignment import own_trees, test_assign_any_expression_of_the_container_itself as t1, test_write_any_expression_of_the_container_into_it as t2
S=dict(deadline=None, suppress_health_check=list(HealthCheck), derandomize=False, database=None)
@given(problems())
@settings(max_examples=600, **S)
def test_a(p): check(*p)
@given(problems(inexact=True))
@settings(max_examples=30, **S)
def test_b(p): check(*p)
import pytest
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@given(own_trees())
@settings(max_examples=200, **S)
def test_c(d): t1.hypothesis.inner_test(d)
import pytest
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@given(own_trees())
@settings(max_examples=200, **S)
def test_d(d): t2.hypothesis.inner_test(d)
