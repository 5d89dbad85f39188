# Which modules the names stand for, for type checkers, the test of ranks, and `_later.py`.

from .arrays import matmul as matmul
from .codegen import kernel as kernel
from .codegen import routines as routines
from .codegen import worker as worker
from .codegen.emit import folding as folding
from .codegen.emit import reduction as reduction
from .codegen.emit import routine as routine
from .compiler import plan as _plan
from .dtypes import info as info
from .functions import jagged as jagged
from .functions import jagged_joins as jagged_joins
from .jagged import array as array
from .jagged import lazy as lazy
from .labels import assignment as assignment
from .labels import labelled as labelled
from .labels import products as products
from .labels import remembered as remembered
from .layout import digits as _digits
from .layout import layout as _layout
from .layout import placement as placement
from .layout import text as _text
from .operands import bitcast as bitcast
from .operands import pickling as pickling
from .operands import tracing as tracing
from .overlap import overlap as overlap
from .runtime import axis_folds as axis_folds
from .runtime import bound as bound
from .runtime import direct as direct
from .runtime import launch as launch
from .runtime import reference as reference
from .runtime import replay as replay
from .runtime import run as _run
from .shapes import labels as _labels
from .shapes import nested as nested
from .shapes import shape as _shape
from .xla import formats as formats
from .xla import spec as _spec
from .xtensor_views import regular as regular

extents = _shape
label_texts = _labels
layout_texts = _text
layouts = _layout
mixed_radix = _digits
planning = _plan
running = _run
specs = _spec
