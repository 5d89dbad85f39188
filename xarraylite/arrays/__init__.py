"""What users hold: the lazy handle, containers that own memory, views, adaptors, `eval`.

`expression` is what operators return, `container` what all arrays that have memory share, `xarray`
and `xtensor` their classes.  `basic_indexing` makes ``a[1:-1]`` of a container a view,
`advanced_indexing` reads and writes where masks and several integer arrays say.  Everything for
users is built on it.  How a write is checked, planned or run is decided in the rooms below.
"""

# It says what results are held by, so whoever has one module of this room needs it: a process that
# is sent a value, say, and imports where that is defined.
from . import xarray as xarray
