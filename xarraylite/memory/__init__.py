"""Who owns the bytes: blocks, the pool they come from, buffers, and snapshots of buffers.

A buffer knows who still reads it, so that a writer moves the readers' snapshot to a copy first.
The rooms that run or hold arrays import it.  It knows nothing of expressions, and of layouts only
how to read and write one through NumPy.
"""
