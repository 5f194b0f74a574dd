"""Animated pictures: one encoder per format, each frame written as soon as it is there."""
