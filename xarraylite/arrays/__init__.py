"""What users hold: the lazy handle, containers that own memory, views, adaptors, `eval`.

`expression` is what operators return, `container` what all arrays that have memory share, `xarray`
and `xtensor` their classes.  `basic_indexing` makes ``a[1:-1]`` of a container a view,
`advanced_indexing` reads and writes where masks and several integer arrays say.  Everything for
users is built on it.  How a write is checked, planned or run is decided in the rooms below.
"""
