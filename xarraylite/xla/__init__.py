"""XLA's descriptions of arrays: ``bf16[10,300]{1,0:T(8,128)(2,1)}`` and what can be asked of it.

`ArraySpec` and the functions on it: bitcasts, edits, comparisons, the layouts a TPU compiler would
choose, protocol buffers; how many bytes it has and where its elements are is in `layout.sizes` and
`layout.positions`.  The facade and the pictures import it.  It never holds elements; containers
with such layouts are in ``arrays``.
"""
