"""The loops over pixels in C: one small library, made from the C files beside this when the package is built.

It knows nothing of Python: it is called through ctypes, which lets other threads run meanwhile.
"""
