"""Reading and writing pictures and video: planes, colour, audio, metadata, segments."""
