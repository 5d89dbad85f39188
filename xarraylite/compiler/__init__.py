"""From an expression to finished memory: plan, kernels, and the loops that run them.

The modules in the order data passes through them: ``graph`` (canonical form), ``plan`` (what is
fused, which temporaries, in what order), ``lower`` and ``loops`` (one kernel's values and loop
nest), ``emit`` (source), ``kernel`` (machine code), ``run`` (blocks and threads).
``reference`` does the same work with NumPy, operation by operation, and is the oracle.
"""
