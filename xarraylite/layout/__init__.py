"""Where elements lie: from an index to a place in a flat buffer, and back.

A layout is strided, or tiled as XLA writes it (``{1,0:T(8,128)(2,1)}``).  `strided` gives a view
such as ``a[1:-1]`` its offset and strides, `digits` has tiles as mixed-radix numbers, and
`splitting` divides an index box where several layouts are all strided.  `sizes` counts the bytes
of ``bf16[10,300]{1,0:T(8,128)(2,1)}``, and `positions` finds its elements.
Everything that addresses memory imports it.  It holds no memory and does no copying.
"""
