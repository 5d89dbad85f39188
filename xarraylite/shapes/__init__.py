"""What is indexed: shapes, broadcasting and index maps, as pure integers."""
