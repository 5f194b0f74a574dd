"""Effects that the field's networks do on aligned crops of faces."""
