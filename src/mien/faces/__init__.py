"""Finding, measuring, recognising and following faces."""
