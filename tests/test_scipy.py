"""SciPy in array API mode takes containers, and computes what it computes of NumPy's arrays.

The mode is chosen when SciPy is imported, so this runs in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = r"""
import warnings
import numpy as np
import xarraylite as xl
warnings.simplefilter("ignore")
from scipy import cluster, fft, integrate, linalg, ndimage, optimize, signal, sparse, special, stats

CALLS = '''
special.erf(a)
special.logsumexp(a, axis=1)
special.erf(special.logsumexp(v))
special.softmax(a, axis=0)
special.xlogy(a, a)
stats.zscore(a)
stats.skew(a)
stats.kurtosis(a)
stats.pearsonr(v, v**2).statistic
stats.ttest_1samp(v, 0.4).pvalue
stats.gmean(a)
stats.entropy(v)
stats.moment(a, 3)
stats.sem(a)
stats.iqr(v)
signal.detrend(v)
signal.hilbert(v)
signal.convolve(v, v)
signal.fftconvolve(v, v)
signal.savgol_filter(v, 5, 2)
fft.fft(v)
fft.dct(v)
ndimage.gaussian_filter(a, 1.0)
ndimage.sobel(a)
cluster.vq.whiten(a)
cluster.vq.vq(a, a[:3, :])[1]
cluster.hierarchy.linkage(a)
integrate.trapezoid(v)
integrate.cumulative_simpson(v)
optimize.rosen(v)
'''
NUMPYS = "linalg.solve(s, v[:3])", "linalg.svd(a)[1]", "linalg.norm(a)", "integrate.simpson(v)"
KRYLOV = "sparse.linalg.funm_multiply_krylov(linalg.expm, sparse.csr_array(s), v[:3])"
NUMPYS += "signal.czt(v, 8)", KRYLOV

a = np.random.default_rng(0).random((20, 3))
theirs = {"a": a, "v": a[:, 0], "s": a[:3] + 3 * np.eye(3)}
ours = {name: xl.asarray(x) for name, x in theirs.items()}
for call in [*CALLS.split("\n")[1:-1], *NUMPYS]:
    wanted, made = (eval(call, {**globals(), **names}) for names in (theirs, ours))
    assert np.allclose(np.asarray(made), wanted), call
    assert call in NUMPYS or made.__array_namespace__() is xl, (call, type(made))
for matrix in (linalg.toeplitz, linalg.circulant):  # they call NumPy's `as_strided`
    assert np.array_equal(matrix(np.asarray(ours["v"])), matrix(theirs["v"]))
    try:
        matrix(ours["v"])
    except xl.LayoutError as error:
        assert "count elements" in str(error)
    else:
        raise AssertionError(matrix)
print("done")
"""


def test_scipy_in_array_api_mode(engine: str) -> None:
    pytest.importorskip("scipy")
    if engine == "compiled":
        pytest.skip("the reference engine has it")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=200,
    )
    assert done.stdout == "done\n", done.stderr
