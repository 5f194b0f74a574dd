"""Adapters for the model families of the field: one class each, with the facts of its contract on it.

Conventions of this package, which are the field's own:

- pictures and crops are RGB, (n, height, width, 3), uint8 0..255 or float32 0..1; networks that want BGR get it inside;
- points are x, y in pixels; the pixel in column x, row y has its *centre* at (x, y), as OpenCV counts;
- five points are left eye, right eye, nose tip, left and right mouth corner, as seen in the picture;
- 68 points are in the order of iBUG 300-W;
- the first axis counts faces, tiles or pictures: all of them go through the network in one batch where it can.
"""
