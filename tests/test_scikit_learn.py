"""scikit-learn with array API dispatch computes of containers what it computes of NumPy's arrays.

SciPy must be told before it is imported, so this runs in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.once

SCRIPT = r"""
import warnings
import numpy as np
import xarraylite as xl
warnings.simplefilter("ignore")
from sklearn import config_context, metrics
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import pairwise
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(np.int64)
t = X @ [1.0, 2.0, 3.0, 4.0] + 0.1

CALLS = '''
abs(PCA(2, svd_solver="full").fit_transform(X))
StandardScaler().fit_transform(X)
MinMaxScaler().fit_transform(X)
MaxAbsScaler().fit_transform(X)
Normalizer().fit_transform(X)
Ridge(solver="svd").fit(X, t).predict(X)
LinearDiscriminantAnalysis().fit(X, y).predict(X)
LinearDiscriminantAnalysis().fit(X, y).decision_function(X)
metrics.accuracy_score(y, 1 - y)
metrics.f1_score(y, 1 - y)
metrics.confusion_matrix(y, 1 - y)
metrics.mean_squared_error(t, t * 1.1)
metrics.mean_absolute_error(t, t * 1.1)
metrics.r2_score(t, t * 1.1)
metrics.max_error(t, t * 1.1)
pairwise.euclidean_distances(X)
pairwise.cosine_similarity(X)
pairwise.rbf_kernel(X)
'''

ours = {"X": xl.asarray(X), "y": xl.asarray(y), "t": xl.asarray(t)}
for call in filter(None, CALLS.splitlines()):
    wanted = eval(call, {**globals(), "X": X, "y": y, "t": t})
    with config_context(array_api_dispatch=True):
        found = eval(call, {**globals(), **ours})
    if isinstance(wanted, np.ndarray) and wanted.ndim and "matrix(" not in call:
        assert isinstance(found, xl.XExpression), (call, type(found))
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6, atol=1e-9, err_msg=call)
print("done")
"""


def test_it_computes_with_containers() -> None:
    pytest.importorskip("sklearn")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        timeout=200,
    )
    assert done.stdout == "done\n", done.stderr
