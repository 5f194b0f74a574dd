"""The byte structure of picture files: chunks, segments and blocks, without decoding pixels."""
