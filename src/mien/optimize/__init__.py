"""Making networks cheaper, and proving that they stayed good."""
