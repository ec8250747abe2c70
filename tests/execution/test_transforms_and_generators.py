"""Fourier transforms, inverses, diagonals, random numbers, promoted types."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.cast import convert_promote_types
from specgate.execution.kernels.fft import dft_complex, irdft, rdft, stft_frames
from specgate.execution.kernels.matmul import eye, matrix_inverse
from specgate.execution.kernels.random import random_generator, random_uniform_seeded

COMPLEX = np.random.default_rng(1).normal(size=(4, 5, 2))
REAL = COMPLEX[..., 0]


def numbers(*items):
    return np.array(items, np.int64)


def by_formula(values, axis, *, inverse=False):
    """Return the transform by definition, along one axis."""
    size = values.shape[axis]
    powers = np.exp((2j if inverse else -2j) * np.pi * np.outer(range(size), range(size)) / size)
    array = np.moveaxis(np.tensordot(powers, values, (1, axis)), 0, axis)
    return array / size if inverse else array


def part(values):
    return np.stack([values.real, values.imag], axis=-1)


@pytest.mark.parametrize("inverse", [False, True])
def test_dft_matches_plain_sums(inverse):
    values = COMPLEX[..., 0] + 1j * COMPLEX[..., 1]
    both = by_formula(by_formula(values, 0, inverse=inverse), 1, inverse=inverse)
    np.testing.assert_allclose(dft_complex(COMPLEX, numbers(-1, 0), inverse=inverse), part(both), atol=1e-12)
    padded = by_formula(np.pad(values, ((0, 0), (0, 2))), 1, inverse=inverse)
    sized = dft_complex(COMPLEX, numbers(1), numbers(7), inverse=inverse)
    np.testing.assert_allclose(sized, part(padded), atol=1e-12)
    cut = dft_complex(COMPLEX, numbers(1, 0), numbers(3, -1), inverse=inverse)
    assert cut.shape == (4, 3, 2)
    assert np.array_equal(dft_complex(COMPLEX, numbers(), inverse=inverse), COMPLEX)


def test_rdft_and_irdft_round_trip():
    whole = by_formula(by_formula(REAL, 0), 1)
    half = rdft(REAL, numbers(0, 1))
    np.testing.assert_allclose(half, part(whole[:, :3]), atol=1e-12)
    assert rdft(REAL, numbers(0, 1), numbers(6, 8)).shape == (6, 5, 2)
    assert rdft(REAL[:, :0], numbers(1)).shape == (4, 1, 2)
    restored = irdft(rdft(REAL, numbers(0)), numbers(0))
    assert not np.ma.is_masked(restored)
    np.testing.assert_allclose(restored, REAL, atol=1e-12)


def test_irdft_is_specified_for_a_single_axis_of_matching_size():
    for axes, size in ((numbers(0, 1), None), (numbers(1), numbers(7)), (numbers(1), numbers(3))):
        assert np.ma.getmaskarray(irdft(COMPLEX, axes, size)).all()
    assert irdft(COMPLEX[:1], numbers(0)).shape == (0, 5)


@pytest.mark.parametrize(
    ("axes", "size"), [((2,), None), ((0, 0), None), ((0, -2), None), ((0,), (0,)), ((0,), (-2,)), ((0,), (1, 2))]
)
def test_invalid_dft_axes_and_sizes_are_rejected(axes, size):
    sizes = None if size is None else numbers(*size)
    for transform in (dft_complex, irdft):
        options = {"inverse": False} if transform is dft_complex else {}
        with pytest.raises(InputError, match="fourier"):
            transform(COMPLEX, numbers(*axes), sizes, **options)
    with pytest.raises(InputError, match="imaginary part"):
        dft_complex(REAL, numbers(0), inverse=False)
    with pytest.raises(InputError, match="floats"):
        rdft(numbers(1, 2), numbers(0))


def test_stft_frames():
    signal, window = np.arange(7.0), np.array([1.0, 2.0, 1.0, 0.5])
    array = stft_frames(signal, window, numbers(4), numbers(3), transpose_frames=False)
    frames = np.array([signal[:4], signal[3:]]) * window
    np.testing.assert_allclose(array, part(by_formula(frames, 1)[:, :3]), atol=1e-12)
    turned = stft_frames(signal[None], window, numbers(4), numbers(3), transpose_frames=True)
    np.testing.assert_allclose(turned, array.swapaxes(0, 1)[None])
    assert np.ma.getmaskarray(stft_frames(signal, window[:3], numbers(4), numbers(3), transpose_frames=False)).all()
    for size, step in ((8, 1), (0, 1), (4, 0)):
        with pytest.raises(InputError, match="frames"):
            stft_frames(signal, window, numbers(size), numbers(step), transpose_frames=False)


def test_matrix_inverses_and_singular_matrices():
    matrices = np.array([[[4.0, 1], [2, 1]], [[1, 2], [2, 4]], [[1, np.nan], [0, 1]]])
    assert matrix_inverse(matrices).tolist() == [[[0.5, -0.5], [-1, 2]], [[None] * 2] * 2, [[None] * 2] * 2]
    assert matrix_inverse(matrices[:1], transposed=True).tolist() == [[[0.5, -1], [-0.5, 2]]]
    assert matrix_inverse(np.zeros((0, 2, 2), "f2")).shape == (0, 2, 2)
    assert matrix_inverse(np.zeros((2, 0, 0))).shape == (2, 0, 0)
    for shape in ((2, 3), (2,)):
        with pytest.raises(InputError, match="square"):
            matrix_inverse(np.zeros(shape))


@pytest.mark.parametrize("right", [-4, -3, -1, 0, 2, 3, 4, 2**62, -(2**62)])
def test_eye(right):
    result = eye(numbers(3), numbers(4), numbers(right), numbers(2), like=np.dtype(np.uint8))
    expected = np.eye(3, 4, right) if abs(right) < 9 else np.zeros((3, 4))
    assert result.tolist() == [expected.tolist()] * 2


def test_invalid_eye_shapes_are_rejected():
    for rows, batch in ((-1, ()), (2, (-1,)), (2**40, (2**40,))):
        with pytest.raises(InputError):
            eye(numbers(rows), numbers(4), numbers(0), numbers(*batch), like=np.dtype("f4"))
    with pytest.raises(InputError, match="one element each"):
        eye(numbers(1, 2), numbers(4), numbers(0), like=np.dtype("f4"))


def test_documented_random_numbers():
    array = random_uniform_seeded(numbers(2, 3), np.array(50, "int32"), np.array(100, "int32"), key=80, counter=100)
    assert array.tolist() == [[65, 70, 56], [59, 82, 92]]
    array = random_uniform_seeded(
        numbers(2, 2), np.array([2], "float64"), np.array([10], "float64"), key=80, counter=100
    )
    np.testing.assert_allclose(array, [[5.65927959, 4.23122376], [2.67008206, 2.36423758]], atol=1e-8)
    array = random_uniform_seeded(numbers(9), np.array(0, "float32"), np.array(1, "float32"), key=150, counter=10)
    np.testing.assert_allclose(array[[0, 4, 8]], [0.7011236, 0.11694777, 0.991374], atol=1e-7)
    half = random_uniform_seeded(numbers(500), np.array(-1, "float16"), np.array(1, "float16"), key=3, counter=0)
    assert half.dtype == np.float16
    assert half.min() >= -1
    assert half.max() < 1


@pytest.mark.parametrize(
    ("dtype", "low", "high", "expected"),
    [  # OpenVINO 2026.4.1's values for the alignment PYTORCH and the seed 80
        ("float32", -3, 5, [1.8833842, -2.231844, -2.6157656, 1.2979522]),
        ("float16", 0, 1, [0.5854, 0.592, 0.456, 0.103]),
        ("float64", 2, 10, [9.0670764, 5.07387745, 7.53324186, 4.71095199]),
        ("int32", -5, 5, [2, 3, -3, 4]),
        ("int64", 50, 100, [77, 58, 62, 69]),
        ("int64", 0, 2**40, [754523346108, 715238508755, 43615861554, 16312016342]),
    ],
)
def test_random_numbers_of_mersenne_twister(dtype, low, high, expected):
    bounds = np.array(low, dtype), np.array(high, dtype)
    for key, counter in ((80, 100), (80, 0), (2**32 + 80, 1)):  # only the low word of this seed counts
        result = random_uniform_seeded(numbers(4), *bounds, key=key, counter=counter, twister=True)
        assert result.dtype == dtype
        np.testing.assert_allclose(result, expected, rtol=1e-3 if dtype == "float16" else 1e-6)


def test_unspecified_random_numbers_are_masked():
    array, two = np.array(1, "float32"), np.array(2, "float32")
    for low, high, key in ((array, two, 0), (two, array, 5), (array, array, 5)):
        assert np.ma.getmaskarray(random_uniform_seeded(numbers(3), low, high, key=key, counter=0)).all()
    for shape, key in ((-1, 1), (3, -1), (3, 2**64)):
        with pytest.raises(InputError, match="random"):
            random_uniform_seeded(numbers(shape), array, two, key=key, counter=1)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("i1", "f2", "f2"), ("?", "i2", "i2"), ("u1", "i1", "i2"), ("u4", "i2", "i8"), ("i8", "u1", "i8"), ("u1", "u4", "u4"),
        ("f2", "f8", "f8"), ("u8", "i1", "f4"), ("?", "?", "?"), ("f2", "u8", "f2"),
    ],
)  # fmt: skip
def test_promotion_to_a_common_type(first, second, expected):
    for item, other in ((first, second), (second, first)):
        result = convert_promote_types(
            np.ones(2, item), np.ones((), other), scalars_follow=False, widest=np.dtype("f4")
        )
        assert [array.dtype for array in result] == [np.dtype(expected)] * 2


def test_promotion_of_float16_with_bfloat16_and_of_scalars():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    short = np.ones(2, ml_dtypes.bfloat16)
    assert (
        convert_promote_types(short, np.ones(2, "f2"), scalars_follow=False, widest=np.dtype("f4"))[0].dtype
        == np.float32
    )
    for text, other, expected in (("i8", "u1", "u1"), ("f2", "i1", "f2"), ("f8", "f2", "f2")):
        arrays = convert_promote_types(np.ones((), text), np.ones(2, other), scalars_follow=True, widest=np.dtype("f4"))
        assert arrays[0].dtype == np.dtype(expected)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ([0] * 6, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 6, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_philox_words_match_the_published_vectors(state, words):
    result, _ = random_generator(np.array([state], np.uint32), sizes=[1, 4])
    assert result.tolist() == [words]


def test_philox_counter_advances_by_blocks_and_wraps():
    state = np.array([0xFFFFFFFF, 0xFFFFFFFF, 7, 0, 1, 2], np.uint32)
    both, trailing = random_generator(state, sizes=[9])
    assert trailing.tolist() == [2, 0, 8, 0, 1, 2]
    first, following = random_generator(state, sizes=[2, 2])
    second, _ = random_generator(following, sizes=[5])
    assert np.array_equal(both, np.concatenate([first.ravel(), second]))
    last, after = random_generator(np.array([0xFFFFFFFF] * 4 + [1, 2], np.uint32), sizes=[4])
    assert after.tolist() == [0, 0, 0, 0, 1, 2]
    assert last.dtype == np.uint32


def test_states_of_another_size_are_rejected():
    with pytest.raises(InputError, match="six"):
        random_generator(np.zeros((6, 1), np.uint32), sizes=[4])
    with pytest.raises(InputError, match="six"):
        random_generator(np.zeros(6, np.int32), sizes=[4])
