"""Where elements lie: from an index to a place in a flat buffer, and back.

A layout is strided, or tiled as XLA writes it (``{1,0:T(8,128)(2,1)}``); `digits` turns both into
mixed-radix numbers and `splitting` divides an index box where several layouts are all strided.
Everything that addresses memory imports it.  It holds no memory and does no copying.
"""
