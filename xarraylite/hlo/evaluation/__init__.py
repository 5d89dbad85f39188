"""What the operations of HLO compute: one table of evaluators, and the programs that run them.

``program`` has the table, of the rows of the other modules; ``inlining`` decides what is fused and
what is stored.  An evaluator gets lazy expressions and returns one, or asks for memory with
``values.array``.  The room above, ``hlo.evaluate``, is who imports this.
"""
