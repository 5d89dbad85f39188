"""What is indexed and how: extents, broadcasting, users' indices, and what views do to them.

`broadcast` has the rules of shapes, `indices` reads the user's dialect (``a[1:-1, None]``) and
`transform` is what it becomes: one map from the index of a view to the index of its operand.  All
are pure integers, for every room above.  Nothing here knows of strides, bytes or dtypes: what a
view's strides are, its layout says.
"""
