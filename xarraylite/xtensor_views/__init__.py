"""xtensor's views: elements of an array under another index, read lazily and written through.

`selection` makes them of `items`: slices, `keep` and `drop`.  `regular` has those that strides can
say, `picked` and `reshaped` those that they cannot (positions in lists, other shapes of gaps), and
`scattered` how these are read and written.  `access` walks through elements, lines and sub-arrays.
Whatever is a matter of strides is an `XView`, as from indexing.  Views of views are views of the
first array.  Imports the containers and what lies below; it compiles nothing, and copies only what
an assignment says.
"""
