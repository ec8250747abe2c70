"""Image decoding, and conversion of NV12 and I420 (YUV 4:2:0) from and to RGB."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        raise InputError(f"expected pixel_format RGB, BGR or Grayscale, found {pixel_format!r:.40}")
    try:
        with Image.open(BytesIO(stream.tobytes()), formats=_FORMATS) as image:
            channels = 1 if pixel_format == "Grayscale" else 3
            array = memory.empty((image.height, image.width, channels), np.dtype(np.uint8))
            pixels = np.asarray(image.convert("L" if channels == 1 else "RGB"))
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError) as error:
        raise InputError(f"the bytes are not an image that can be decoded: {str(error)[:120]}") from None
    array[...] = pixels.reshape(array.shape)
    return array[..., ::-1].copy() if pixel_format == "BGR" else array


#: Red, green and blue per unit of Y - 16, U - 128 and V - 128.
_COLOURS: Final = np.array([[1.164, 0.0, 1.596], [1.164, -0.391, -0.813], [1.164, 2.018, 0.0]])
#: Y, U and V per unit of red, green and blue, and the offset.
_PLANES: Final = np.array([[0.257, 0.504, 0.098], [-0.148, -0.291, 0.439], [0.439, -0.368, -0.071]])
_OFFSETS: Final = np.array([16.0, 128.0, 128.0])
#: Integers this near the middle of two may be rounded to either.
_TIE_TOLERANCE: Final = 2e-4


def yuv_to_rgb(
    y: NDArray[Any],
    u: NDArray[Any] | None = None,
    v: NDArray[Any] | None = None,
    *,
    interleaved: bool,
    blue_first: bool = False,
    nan_black: bool = False,
) -> NDArray[Any]:
    """Return images [batch, rows, columns, 3] of RGB, clamped to [0, 255].

    y: [batch, rows, columns, 1]; u and v: one per 2x2 block, interleaved as one array u [batch, rows / 2, columns / 2,
    2]. Without them y holds the rows of all planes, stacked. Integers are rounded to nearest, and masked in the middle
    of two. blue_first: BGR. nan_black: a color that is nan becomes 0.
    """
    if y.ndim != 4 or y.shape[3] != 1:
        raise InputError(f"yuv_to_rgb: expected one channel, found {list(y.shape)}")
    if y.shape[2] % 2:
        raise NoKernel("yuv_to_rgb: the color layout of an odd width is unspecified")
    if u is None:
        y, u, v = _split_planes(y, interleaved)
    elif interleaved:
        require_shape("yuv_to_rgb", "u and v", u.shape, (*_chroma_shape(y), 2))
        u, v = u[..., 0], u[..., 1]
    elif v is None:
        raise InputError("yuv_to_rgb: u and v must be given together")
    else:
        for plane in (u, v):
            require_shape("yuv_to_rgb", "u and v", plane.shape, (*_chroma_shape(y), 1))
        u, v = u[..., 0], v[..., 0]
    memory.check_budget((*y.shape[:3], 12), np.dtype(np.float64))
    wide_planes = [y[..., 0].astype(np.float64) - 16]
    wide_planes += [chroma_plane.astype(np.float64).repeat(2, 1).repeat(2, 2) - 128 for chroma_plane in (u, v)]
    rows = _COLOURS[::-1] if blue_first else _COLOURS
    colours = np.stack([_sum(wide_planes, row) for row in rows], -1)
    return _round_pixels(np.fmax(colours, 0) if nan_black else colours, y.dtype)


def rgb_to_yuv(
    image: NDArray[Any], *, together: bool, blue_first: bool = False
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return Y and UV planes of RGB images.

    Y: [batch, rows, columns, 1]; UV: [batch, rows / 2, columns / 2, 2]. image: [batch, rows, columns, 3]. together: as
    one array, the rows of UV below those of Y, and None. U and V are means over 2x2 blocks. All are clamped to [0,
    255]; integers are rounded to nearest, and masked where the order of rounding matters.
    """
    if image.ndim != 4 or image.shape[3] != 3 or image.shape[1] % 2 or image.shape[2] % 2:
        raise InputError(f"rgb_to_yuv: expected three channels and even sizes, found {list(image.shape)}")
    batch, rows, columns, _ = image.shape
    memory.check_budget((batch, rows, columns, 12), np.dtype(np.float64))
    colours = np.moveaxis(image[..., ::-1] if blue_first else image, -1, 0).astype(np.float64)
    with memory.ignore_warnings():
        y, u, v = (
            np.clip(_sum(list(colours), row) + offset, 0, 255) for row, offset in zip(_PLANES, _OFFSETS, strict=True)
        )
    brightness = _round_pixels(y[..., None], image.dtype)
    squares = np.stack([u, v], -1).reshape(batch, rows // 2, 2, columns // 2, 2, 2)
    with memory.ignore_warnings():
        colour = _round_pixels(squares.mean((2, 4)), image.dtype)
    if not is_float(image.dtype):
        chroma = np.floor(np.floor(squares + 0.5).mean((2, 4)) + 0.5)
        middle = (np.abs(squares % 1 - 0.5) < _TIE_TOLERANCE).any((2, 4))
        colour = np.ma.MaskedArray(colour, mask=np.ma.getmaskarray(colour) | middle | (chroma != np.ma.getdata(colour)))
    if not together:
        return brightness, colour
    parts = [brightness, colour.reshape(batch, rows // 2, columns, 1)]
    joined = np.concatenate([np.ma.getdata(part) for part in parts], 1)
    mask = np.concatenate([np.ma.getmaskarray(part) for part in parts], 1)
    return (np.ma.MaskedArray(joined, mask=mask) if mask.any() else joined), None


def _chroma_shape(y: NDArray[Any]) -> tuple[int, int, int]:
    if y.shape[1] % 2:
        raise InputError(f"yuv_to_rgb: expected an even height, found {list(y.shape)}")
    return y.shape[0], y.shape[1] // 2, y.shape[2] // 2


def _split_planes(planes: NDArray[Any], interleaved: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return y, u and v of stacked planes.

    y: [batch, rows, columns, 1]; u and v: [batch, rows / 2, columns / 2].
    """
    batch, height, columns, _ = planes.shape
    if height % 3:
        raise InputError(f"yuv_to_rgb: expected a height that is 1.5 times an even number, found {height}")
    rows = height // 3
    chroma_rows = planes[:, 2 * rows :]
    if interleaved:
        pairs = chroma_rows.reshape(batch, rows, columns // 2, 2)
        return planes[:, : 2 * rows], pairs[..., 0], pairs[..., 1]
    chroma_planes = chroma_rows.reshape(batch, 2, rows, columns // 2)
    return planes[:, : 2 * rows], chroma_planes[:, 0], chroma_planes[:, 1]


def _sum(parts: list[NDArray[Any]], factors: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of parts times factors.

    A part with factor 0 is skipped, even if infinite.
    """
    with memory.ignore_warnings():
        return np.asarray(sum(part * factor for part, factor in zip(parts, factors, strict=True) if factor))


def _round_pixels(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    value = np.clip(values, 0, 255)
    if is_float(dtype):
        return round_to(value, dtype)
    result = np.floor(value + 0.5).astype(dtype)
    middle = np.abs(value % 1 - 0.5) < _TIE_TOLERANCE
    return np.ma.MaskedArray(result, mask=middle) if middle.any() else result
