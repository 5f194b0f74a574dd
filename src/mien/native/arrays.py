"""Arrays as the kernels take them: addresses of memory whose layout has been looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray


def packed(
    name: str, array: NDArray[Any], dtype: DTypeLike, shape: tuple[int | None, ...], *, written: bool = False
) -> int:
    """Address of an array without gaps, in C order.

    Args:
        name: What a message calls it.
        array: Must stay alive until the kernel has returned.
        dtype: The type of its elements that the kernel works with.
        shape: The shape it must have; None where any length will do.
        written: Whether the kernel writes to it.

    Raises:
        ValueError: it is not such an array.
    """
    _check(name, array, dtype, shape, written)
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} has gaps or another order, strides {array.strides} for {array.shape}: copy it first")
    return _address(array)


def rows(
    name: str, array: NDArray[Any], dtype: DTypeLike, shape: tuple[int | None, ...], *, written: bool = False
) -> tuple[int, int]:
    """Address of an array whose rows are packed but may lie apart, and the elements from one row to the next.

    A window cut out of a picture is one. Arguments and errors as those of `packed`.
    """
    _check(name, array, dtype, shape, written)
    if len(array) and not array[0].flags.c_contiguous:
        raise ValueError(f"{name} has gaps within a row, strides {array.strides} for {array.shape}: copy it first")
    stride, rest = divmod(array.strides[0], array.itemsize)
    if len(array) > 1 and (rest or stride < array[0].size):
        raise ValueError(f"{name} has rows that overlap or run backwards, strides {array.strides}: copy it first")
    return _address(array), stride


def _check(name: str, array: NDArray[Any], dtype: DTypeLike, shape: tuple[int | None, ...], written: bool) -> None:
    if array.dtype != dtype:
        raise ValueError(f"{name} holds {array.dtype}, the kernel works with {_named(dtype)}")
    if len(array.shape) != len(shape) or any(
        wanted not in (None, length) for length, wanted in zip(array.shape, shape, strict=True)
    ):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(f"{name} has shape {array.shape}, the kernel needs ({wanted})")
    if written and not array.flags.writeable:
        raise ValueError(f"{name} is read-only, and the kernel writes to it")


def _named(dtype: DTypeLike) -> str:
    import numpy

    return str(numpy.dtype(dtype))


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]
