"""Element types: their names, promotion, narrow formats bit by bit, and their limits."""
