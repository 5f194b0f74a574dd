"""Still pictures: one module per format, each with `read(data) -> Still` and `write(still) -> bytes`."""
