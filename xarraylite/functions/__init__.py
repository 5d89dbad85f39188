"""The public functions, one module per category of the array API standard.

Elementwise functions are made from the op table; the others check their arguments and call the
builders of ``ir``, or let NumPy compute.  Only the facade and what stands above import it.  No
function here touches memory that a container would not.
"""
