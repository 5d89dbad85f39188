"""Where elements lie: maps from an index box into a flat buffer."""
