"""Image decoding: ONNX ImageDecoder.

ImageDecoder-20 leaves the rounding of lossy formats to the codec.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["decode_image"]

#: The formats named in the specification, by their Pillow names.
_FORMATS: Final = ("BMP", "JPEG", "JPEG2000", "TIFF", "PNG", "WEBP", "PPM")


def decode_image(stream: NDArray[Any], *, pixel_format: str = "RGB") -> NDArray[Any]:
    """Return an encoded image as uint8 [height, width, channels].

    stream: bytes of a BMP, JPEG, JPEG 2000, TIFF, PNG, WebP or portable anymap file. pixel_format: RGB, BGR, or
    Grayscale with one channel. Decoded by Pillow. Raises InputError for a stream that is not an image, NoKernel without
    Pillow.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise NoKernel("images are decoded by Pillow: pip install 'specgate-ml[images]'") from None
    if stream.ndim != 1 or stream.dtype != np.uint8:
        raise InputError(f"expected a list of bytes, found {stream.dtype} {list(stream.shape)}")
    if pixel_format not in {"RGB", "BGR", "Grayscale"}:
        raise InputError(f"expected RGB, BGR or Grayscale, found {pixel_format!r:.40}")
    try:
        with Image.open(BytesIO(stream.tobytes()), formats=_FORMATS) as image:
            channels = 1 if pixel_format == "Grayscale" else 3
            array = memory.empty((image.height, image.width, channels), np.dtype(np.uint8))
            pixels = np.asarray(image.convert("L" if channels == 1 else "RGB"))
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError) as error:
        raise InputError(f"the bytes are not an image that can be decoded: {str(error)[:120]}") from None
    array[...] = pixels.reshape(array.shape)
    return array[..., ::-1].copy() if pixel_format == "BGR" else array
