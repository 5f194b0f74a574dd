"""Changing a face: the swapper, masks, light, colour."""
