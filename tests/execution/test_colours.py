"""Conversion of NV12 and I420 images, pixel by pixel, by the pages' formulas."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.images import rgb_to_yuv, yuv_to_rgb

RANDOM = np.random.default_rng(11)


def colour(y: float, u: float, v: float) -> list[float]:
    """Red, green and blue, as documented."""
    c, d, e = y - 16, u - 128, v - 128
    return [
        min(max(each, 0), 255)
        for each in (1.164 * c + 1.596 * e, 1.164 * c - 0.391 * d - 0.813 * e, 1.164 * c + 2.018 * d)
    ]


def test_2x2_pixels_share_their_chroma() -> None:
    y = RANDOM.uniform(0, 255, (2, 4, 6, 1))
    uv = RANDOM.uniform(0, 255, (2, 2, 3, 2))
    array = yuv_to_rgb(y, uv, interleaved=True)
    assert array.shape == (2, 4, 6, 3)
    for batch, row, column in np.ndindex(2, 4, 6):
        expected = colour(y[batch, row, column, 0], *uv[batch, row // 2, column // 2])
        np.testing.assert_allclose(array[batch, row, column], expected, atol=1e-12)
    separate = yuv_to_rgb(y, uv[..., :1], uv[..., 1:], interleaved=False)
    assert separate.tolist() == array.tolist()
    assert yuv_to_rgb(y, uv, interleaved=True, blue_first=True).tolist() == array[..., ::-1].tolist()


@pytest.mark.parametrize("interleaved", [True, False])
def test_planes_of_a_single_array_are_stacked(interleaved: bool) -> None:
    y = RANDOM.uniform(0, 255, (1, 4, 4, 1))
    u, v = RANDOM.uniform(0, 255, (2, 1, 2, 2, 1))
    uv = np.concatenate([u, v], -1)
    below = uv.reshape(1, 2, 4, 1) if interleaved else np.concatenate([u, v], 1).reshape(1, 2, 4, 1)
    result = yuv_to_rgb(np.concatenate([y, below], 1), interleaved=interleaved)
    assert result.tolist() == yuv_to_rgb(y, uv, interleaved=True).tolist()


def test_bytes_are_rounded_and_masked_at_ties() -> None:
    y = np.array([[[[16], [17]], [[81], [235]]]], np.uint8)
    uv = np.full((1, 1, 1, 2), 128, np.uint8)
    array = yuv_to_rgb(y, uv, interleaved=True)
    assert array[..., 0].tolist() == [[[0, 1], [76, 255]]]
    middle = yuv_to_rgb(np.full((1, 2, 2, 1), 16 + 125, np.uint8), uv, interleaved=True)  # 1.164 * 125 = 145.5
    assert np.ma.getmaskarray(middle).all()


def test_rgb_to_yuv_round_trips() -> None:
    image = np.repeat(np.repeat(RANDOM.uniform(40, 200, (1, 2, 3, 3)), 2, 1), 2, 2)
    y, uv = rgb_to_yuv(image, together=False)
    assert uv is not None
    red, green, blue = image[0, 0, 0]
    assert y[0, 0, 0, 0] == pytest.approx(0.257 * red + 0.504 * green + 0.098 * blue + 16)
    assert uv[0, 0, 0].tolist() == pytest.approx([
        -0.148 * red - 0.291 * green + 0.439 * blue + 128,
        0.439 * red - 0.368 * green - 0.071 * blue + 128,
    ])  # fmt: skip
    np.testing.assert_allclose(yuv_to_rgb(y, uv, interleaved=True), image, atol=0.6)
    both, nothing = rgb_to_yuv(image[..., ::-1], together=True, blue_first=True)
    assert nothing is None
    assert both.tolist() == np.concatenate([y, uv.reshape(1, 2, 6, 1)], 1).tolist()


def test_chroma_is_the_mean_of_4_pixels() -> None:
    image = RANDOM.uniform(0, 255, (1, 4, 4, 3))
    _, uv = rgb_to_yuv(image, together=False)
    assert uv is not None
    for row, column in np.ndindex(2, 2):
        four = image[0, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2].reshape(4, 3)
        expected = [
            float(np.mean(four @ np.array(f) + 128)) for f in ((-0.148, -0.291, 0.439), (0.439, -0.368, -0.071))
        ]
        np.testing.assert_allclose(uv[0, row, column], expected, atol=1e-9)


def test_mismatched_planes_are_rejected() -> None:
    even = np.zeros((1, 4, 4, 1))
    with pytest.raises(InputError, match="one channel"):
        yuv_to_rgb(np.zeros((1, 6, 4, 2)), interleaved=True)
    with pytest.raises(InputError, match=r"1\.5 times an even number"):
        yuv_to_rgb(even, interleaved=True)
    with pytest.raises(InputError, match="together"):
        yuv_to_rgb(even, np.zeros((1, 2, 2, 1)), interleaved=False)
    with pytest.raises(InputError):
        yuv_to_rgb(even, np.zeros((1, 2, 1, 2)), interleaved=True)
    with pytest.raises(NoKernel, match="odd width"):
        yuv_to_rgb(np.zeros((1, 6, 5, 1)), interleaved=True)
    for shape in ((1, 4, 4, 1), (1, 3, 4, 3), (1, 4, 5, 3), (4, 4, 3)):
        with pytest.raises(InputError, match="three channels"):
            rgb_to_yuv(np.zeros(shape), together=True)
