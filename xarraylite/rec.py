"""NumPy's module of that name, which programs can import from here."""

import sys

import numpy as np

sys.modules[__name__] = np.rec
