"""The public functions, one module per category of the array API standard."""
