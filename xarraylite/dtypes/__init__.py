"""Element types: their names, promotion, narrow formats bit by bit, and their limits.

Every rule about one element type or two is here: what ``float32 + 2.0`` gives, which bits a
bfloat16 has, what the names of XLA, NumPy and ml_dtypes mean.  Everybody may import it.  It never
touches an array's memory.
"""
