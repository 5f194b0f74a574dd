import cv2
import numpy as np
import pytest

from mien.quality.steadiness import (
    LANDMARK_FLOOR,
    ROUNDING_VARIANCE,
    jitter_ratio,
    landmark_jitter,
    warp_error_ratio,
)

FRAMES, SIDE = 6, 128


def texture(seed: int) -> np.ndarray:
    """A smooth random picture, larger than a frame."""
    noise = np.random.default_rng(seed).normal(0, 1, (2 * SIDE, 2 * SIDE, 3)).astype(np.float32)
    smooth = cv2.GaussianBlur(noise, (0, 0), 4)
    return np.clip(127 + 40 * smooth / smooth.std(), 20, 235).astype(np.uint8)


def moving(picture: np.ndarray, across: int = 3, down: int = 1) -> list[np.ndarray]:
    """A window that slides over a picture by whole pixels, so that the flow is known exactly."""
    return [picture[down * t : down * t + SIDE, across * t : across * t + SIDE] for t in range(FRAMES)]


def flickering(frames: list[np.ndarray], levels: int) -> list[np.ndarray]:
    """Every second frame brighter."""
    return [frame + np.uint8(levels * (t % 2)) for t, frame in enumerate(frames)]


def middle() -> list[np.ndarray]:
    mask = np.zeros((SIDE, SIDE), bool)
    mask[32:96, 32:96] = True
    return [mask] * FRAMES


def test_a_clip_is_as_steady_as_itself():
    clip = moving(texture(1))
    assert warp_error_ratio(clip, clip, middle()) == 1


@pytest.mark.parametrize(("along", "tolerance"), [("own", 0.1), ("original", 1e-3)])
@pytest.mark.parametrize("levels", [1, 4, 10])
def test_flicker_of_a_still_clip_is_counted_in_units_of_rounding(levels, along, tolerance):
    clip = [texture(1)[:SIDE, :SIDE]] * FRAMES
    expected = np.sqrt((levels**2 + ROUNDING_VARIANCE) / ROUNDING_VARIANCE)
    # The flow of what flickers hides a part of it.
    ratio = warp_error_ratio(clip, flickering(clip, levels), middle(), along=along)
    assert ratio == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize(("along", "tolerance"), [("own", 0.1), ("original", 0.05)])
def test_flicker_of_a_moving_clip_is_proportional(along, tolerance):
    clip = moving(texture(1))
    weak, strong = (warp_error_ratio(clip, flickering(clip, levels), middle(), along=along) for levels in (6, 12))
    assert weak > 1
    assert strong / weak == pytest.approx(2, rel=tolerance)


@pytest.mark.parametrize("along", ["own", "original"])
def test_boiling_grain_is_counted(along):
    clip = moving(texture(1))
    noise = np.random.default_rng(0)
    boiling = [np.clip(frame + noise.normal(0, 6, frame.shape), 0, 255).astype(np.uint8) for frame in clip]
    assert warp_error_ratio(clip, boiling, middle(), along=along) > 3


def test_what_moves_otherwise_than_the_original_is_steady_along_its_own_flow_only():
    clip = moving(texture(1))
    for other, least in ((moving(texture(2)), 0), ([texture(2)[:SIDE, :SIDE]] * FRAMES, 4)):
        own, original = (warp_error_ratio(clip, other, middle(), along=along) for along in ("own", "original"))
        assert own < 1.6
        assert original > least
    assert warp_error_ratio(clip, moving(texture(2)), middle(), along="original") < 1.6


def test_only_the_mask_counts():
    clip = moving(texture(1))
    outside = [frame.copy() for frame in clip]
    for t, frame in enumerate(outside):
        frame[:20] = 200 * (t % 2)
    assert warp_error_ratio(clip, outside, middle(), along="original") == 1
    assert warp_error_ratio(clip, outside, middle()) < 1.5


def test_no_mask_is_an_error():
    clip = moving(texture(1))
    with pytest.raises(ValueError, match="empty"):
        warp_error_ratio(clip, clip, [np.zeros((SIDE, SIDE), bool)] * FRAMES)


def test_clips_of_different_length_are_an_error():
    clip = moving(texture(1))
    with pytest.raises(ValueError, match="shorter"):
        warp_error_ratio(clip, clip[:-1], middle())


def trembling(amplitude: float, frames: int = 12) -> np.ndarray:
    """Landmarks of a face 100 px wide that jumps to and fro by `amplitude` px, on top of an even motion."""
    track = np.zeros((frames, 478, 3))
    track[:, 454, 0] = 100
    track[:, :, 0] += 4 * np.arange(frames)[:, None]
    track[:, :, 1] += amplitude * (-1.0) ** np.arange(frames)[:, None]
    return track


def test_jitter_is_the_second_difference_in_face_widths():
    assert landmark_jitter(trembling(0.5)) == pytest.approx(4 * 0.5 / 100)
    assert landmark_jitter(trembling(0)) == 0


def test_jitter_ratio_is_that_of_the_amplitudes():
    floor = (LANDMARK_FLOOR * 100 / 4) ** 2
    expected = np.sqrt((1.5**2 + floor) / (0.5**2 + floor))
    assert jitter_ratio(trembling(0.5), trembling(1.5)) == pytest.approx(expected)


def test_two_still_clips_are_equally_steady():
    assert jitter_ratio(trembling(0), trembling(0)) == 1


def test_frames_without_a_face_are_left_out():
    before, after = trembling(0.5), trembling(1.0)
    whole = jitter_ratio(before, after)
    after[5] = np.nan
    before[9] = np.nan
    assert jitter_ratio(before, after) == pytest.approx(whole)


def test_too_few_frames_give_no_figure():
    before = trembling(0.5)
    before[::2] = np.nan
    assert np.isnan(jitter_ratio(before, trembling(0.5)))
