import cv2
import numpy as np
import pytest

from mien.faces.analyser import FaceAnalyser
from mien.faces.face import Face, TrackedFace
from mien.faces.people import People, Sample, tell_apart
from mien.faces.track import FADING_FRAMES, Tracker, exchanged, passed
from mien.quality.metrics import opening
from support.animate import Clip
from support.moving import ArrayFrame, compose, frames, placed, still
from support.people import still as puppet
from support.scenes import talking_head

SIZE = (640, 360)
GRACE, LUIS = still("grace"), still("luis")
SCALE = {id(GRACE): 0.5, id(LUIS): 0.6}


def stage(*actors: tuple[np.ndarray, float, float], seed: int = 0, noise: float = 1.5) -> np.ndarray:
    """Actors (picture, x, y of its middle) before a grey wall, the last one in front."""
    layers = [(image, placed(image, x, y, SCALE[id(image)])) for image, x, y in actors]
    return compose(layers, SIZE, noise=noise, seed=seed)


def follow(analyser: FaceAnalyser, pictures: list[np.ndarray], people: People | None = None) -> list[list[TrackedFace]]:
    tracker = Tracker(analyser, people)
    return [tracker.update(frame) for frame in frames(pictures)]


def calls(analyser: FaceAnalyser, model: str) -> int:
    return sum(session.usage.calls for session in analyser.sessions if session.ran.model == model)


def middle(face: Face) -> np.ndarray:
    return face.landmarks[:468, :2].mean(axis=0)


def test_one_face_is_one_track_and_the_detector_rests(analyser: FaceAnalyser):
    pictures = [stage((GRACE, 250 + 4 * i, 190), seed=i) for i in range(30)]
    before = calls(analyser, "face_detection_back"), calls(analyser, "face_mesh_478")
    result = follow(analyser, pictures)
    assert [[tracked.track for tracked in faces] for faces in result] == [[0]] * 30
    assert [faces[0].fresh for faces in result] == [True] + [False] * 29
    assert all(faces[0].fade == 1 for faces in result)
    assert all(faces[0].flags == () for faces in result)
    # A second of video: one look in five frames or fewer for new faces, one fit a frame and a few for the first.
    assert calls(analyser, "face_detection_back") - before[0] <= 7
    assert calls(analyser, "face_mesh_478") - before[1] <= 34


def test_the_detector_looks_again_only_where_something_new_is_seen(analyser: FaceAnalyser):
    pictures = [stage((GRACE, 250, 190), seed=i) for i in range(24)]
    before = calls(analyser, "face_detection_back")
    follow(analyser, pictures)
    assert calls(analyser, "face_detection_back") - before <= 3  # at the start, at .2 s with nothing to compare

    newcomer = pictures[:12] + [stage((GRACE, 250, 190), (LUIS, 500, 190), seed=i) for i in range(12, 24)]
    assert [len(faces) for faces in follow(analyser, newcomer)][-5:] == [2] * 5


def test_landmarks_go_with_the_face_and_steadier_than_found(analyser: FaceAnalyser):
    shifts = [(3.0 * i, 10 * np.sin(i / 5)) for i in range(40)]
    pictures = [stage((GRACE, 250 + x, 190 + y), seed=i, noise=4) for i, (x, y) in enumerate(shifts)]
    tracked = (
        np.array([faces[0].face.landmarks[:, :2] for faces in follow(analyser, pictures)]) - np.array(shifts)[:, None]
    )
    found = (
        np.array([analyser.find(picture)[0].landmarks[:, :2] for picture in pictures[::4]])
        - np.array(shifts)[::4, None]
    )
    width = np.ptp(tracked[0, :, 0])
    assert np.linalg.norm(tracked[5:].mean(axis=0) - found.mean(axis=0), axis=1).mean() < 0.02 * width
    assert np.linalg.norm(tracked[8:] - tracked[8:].mean(axis=0), axis=2).mean() < 0.012 * width


@pytest.mark.parametrize("name", ["astronaut", "luispedro"])
def test_a_talking_head_is_followed_steadier_than_the_network_sees_it(analyser: FaceAnalyser, name: str):
    clip = list(Clip(talking_head(puppet(name), seconds=1.2)))
    truth = np.array([frame.faces[0].landmarks for frame in clip])
    pictures = [frame.picture for frame in clip]
    alone = [analyser.find(pictures[0])[0].landmarks]
    for image in pictures[1:]:
        alone.append(analyser.landmarks(image, [alone[-1]])[0].landmarks)
    tracked = np.array([faces[0].face.landmarks for faces in follow(analyser, pictures)])

    def trembling(points: np.ndarray, differences: int) -> float:
        error = np.diff((points - truth)[8:, :468, :2], n=differences, axis=0)
        return float(np.sqrt(np.square(error).mean()))

    # From frame to frame the error changes by half as much, and shakes to and fro by less than that.
    assert trembling(tracked, 1) < 0.6 * trembling(np.array(alone), 1)
    assert trembling(tracked, 2) < 0.45 * trembling(np.array(alone), 2)
    # What eyes and mouth do is not smoothed away.
    seen, shown = opening(np.array(alone)), opening(tracked)
    assert np.corrcoef(seen.mouth, shown.mouth)[0, 1] > 0.95
    assert np.abs(seen.mouth - shown.mouth).mean() < 0.03
    assert np.abs(seen.eyes - shown.eyes).mean() < 0.03


def test_velocity_is_in_face_widths(analyser: FaceAnalyser):
    result = follow(analyser, [stage((GRACE, 200 + 12 * i, 190), seed=i) for i in range(16)])
    width = np.ptp(result[0][0].face.landmarks[:468, 0])
    assert result[0][0].velocity == 0
    assert result[-1][0].velocity == pytest.approx(12 / width, rel=0.15)


def test_a_face_may_turn_upside_down(analyser: FaceAnalyser):
    pictures = [compose([(GRACE, placed(GRACE, 320, 180, 0.5, 6 * i))], SIZE, noise=1, seed=i) for i in range(36)]
    result = follow(analyser, pictures)
    assert all([tracked.track for tracked in faces] == [0] for faces in result)
    roll = result[30][0].face.pose.roll
    assert abs((roll - result[0][0].face.pose.roll - 180 + 180) % 360 - 180) < 5


def test_a_face_that_starts_upside_down_is_found_and_followed(analyser: FaceAnalyser):
    pictures = [compose([(LUIS, placed(LUIS, 300 + 3 * i, 180, 0.6, 180))], SIZE) for i in range(6)]
    result = follow(analyser, pictures)
    assert all(abs(abs(faces[0].face.pose.roll) - 180) < 20 for faces in result)


def test_fast_motion_is_followed(analyser: FaceAnalyser):
    # A third of the face's width a frame, starting and stopping at once.
    x = np.concatenate([np.full(5, 130.0), 130 + 30 * np.arange(1, 13), np.full(5, 490.0)])
    result = follow(analyser, [stage((GRACE, place, 190), seed=i) for i, place in enumerate(x)])
    assert all([tracked.track for tracked in faces] == [0] for faces in result)
    off = np.array([middle(faces[0].face)[0] for faces in result]) - x
    width = np.ptp(result[0][0].face.landmarks[:468, 0])
    assert abs(off - np.median(off)).max() < 0.05 * width
    assert any("fast" in faces[0].flags for faces in result)


def test_a_face_that_comes_in_is_noticed_soon_and_fades_in(analyser: FaceAnalyser):
    pictures = [stage((LUIS, 150, 190), (GRACE, 800 - 14 * i, 190), seed=i) for i in range(24)]
    result = follow(analyser, pictures)
    fades = [next((t.fade for t in faces if t.track == 1), None) for faces in result]
    first = next(i for i, fade in enumerate(fades) if fade is not None)
    # The whole face is in the picture from frame 16 on.
    assert first <= 18
    assert fades[first : first + 3] == pytest.approx([1 / 3, 2 / 3, 1])
    assert [t.fade for faces in result for t in faces if t.track == 0] == [1] * 24


def test_a_face_that_goes_fades_out_and_comes_back_as_the_same(analyser: FaceAnalyser):
    here = [stage((GRACE, 250 + 2 * i, 190), seed=i) for i in range(40)]
    gone = [stage(seed=i) for i in range(8)]
    result = follow(analyser, here[:10] + gone + here[18:30])
    assert [len(faces) for faces in result[:10]] == [1] * 10
    leaving = [faces[0] for faces in result[10 : 10 + FADING_FRAMES]]
    assert [tracked.fade for tracked in leaving] == pytest.approx([2 / 3, 1 / 3, 0], abs=1e-6)
    assert all("lost" in tracked.flags for tracked in leaving)
    assert result[10 + FADING_FRAMES : 18] == [[]] * (8 - FADING_FRAMES)
    back = next(i for i, faces in enumerate(result) if i >= 18 and faces)
    assert back <= 21
    assert result[back][0].track == 0
    assert result[back][0].fresh
    assert result[back + 2][0].fade == 1


def test_two_people_who_cross_keep_their_tracks(analyser: FaceAnalyser):
    pictures = [stage((GRACE, 140 + 11 * i, 190), (LUIS, 500 - 11 * i, 190), seed=i) for i in range(34)]
    result = follow(analyser, pictures)
    start = {t.track: middle(t.face)[0] for t in result[0]}
    end = {t.track: middle(t.face)[0] for t in result[-1]}
    assert set(start) == set(end) == {0, 1}
    left = min(start, key=start.__getitem__)
    assert end[left] > end[1 - left]
    # Whose face it is was learnt at the start and holds at the end.
    seen = {t.track: analyser.embed(ArrayFrame(pictures[-1]), [t.face])[0] for t in result[-1]}
    for tracked in result[0]:
        assert np.linalg.norm(seen[tracked.track] - tracked.face.embedding) < 0.5


def test_a_cut_starts_new_tracks_in_full(analyser: FaceAnalyser):
    wall = np.random.default_rng(5).integers(0, 255, (6, 8, 3)).astype(np.uint8).repeat(60, 0).repeat(80, 1)
    first = [stage((GRACE, 250, 190), seed=i) for i in range(6)]
    second = [compose([(LUIS, placed(LUIS, 250, 190, 0.7))], SIZE, background=wall, seed=i) for i in range(4)]
    result = follow(analyser, first + second)
    assert [faces[0].track for faces in result] == [0] * 6 + [1] * 4
    assert [i for i, faces in enumerate(result) if faces[0].fresh] == [0, 6]
    assert all(faces[0].fade == 1 for faces in result)


def test_people_of_the_survey_are_recognised(analyser: FaceAnalyser):
    picture = stage((GRACE, 160, 190), (LUIS, 480, 190))
    faces = analyser.find(picture)
    samples = [
        Sample(0, Face(face.box, face.score, face.landmarks, face.pose, embedding))
        for face, embedding in zip(faces, analyser.embed(picture, faces), strict=True)
    ]
    people = tell_apart(samples)
    # In the clip they have changed places.
    for tracked in follow(analyser, [stage((LUIS, 160, 190), (GRACE, 480, 190), seed=1)], people)[0]:
        assert tracked.person is not None
        assert people.persons[tracked.person].rank == (1 if tracked.face.box[0] < 320 else 0)
        np.testing.assert_array_equal(tracked.neutral, people.neutral_of(tracked.person))
    (alone,) = follow(analyser, [picture])[0][:1]
    assert alone.person is None
    assert alone.neutral is None


def test_one_person_is_not_in_a_frame_twice(analyser: FaceAnalyser):
    picture = stage((GRACE, 160, 190))
    (face,) = analyser.find(picture)
    grace, luis = (analyser.embed(image, analyser.find(image))[0] for image in (GRACE, LUIS))
    # Somebody near to both: .47 of the way from her to him.
    between = grace + 0.47 * (luis - grace)
    people = tell_apart([Sample(0, Face(face.box, face.score, face.landmarks, face.pose, between))])
    assert people.match(grace) == people.match(luis) == 0
    for faces in follow(analyser, [stage((GRACE, 160, 190), (LUIS, 480, 190), seed=i) for i in range(8)], people):
        persons = {float(tracked.face.box[0]) < 320: tracked.person for tracked in faces}
        assert persons == {True: 0, False: None}


def test_somebody_not_recognised_at_first_is_soon(analyser: FaceAnalyser):
    sharp = stage((GRACE, 300, 190))
    (face,) = analyser.find(sharp)
    embedding = analyser.embed(sharp, [face])[0]
    people = tell_apart([Sample(0, Face(face.box, face.score, face.landmarks, face.pose, embedding))])
    blurred = cv2.GaussianBlur(sharp, (0, 0), 5)
    pictures = [blurred] * 3 + [stage((GRACE, 300, 190), seed=i) for i in range(10)]
    persons = [faces[0].person for faces in follow(analyser, pictures, people)]
    assert persons[0] is None
    assert persons[9:] == [0] * 4


def test_a_run_that_starts_later_reaches_the_same_state(analyser: FaceAnalyser):
    shifts = [(6 * i, 15 * np.sin(i / 4)) for i in range(40)]
    pictures = [stage((GRACE, 180 + x, 190 + y), seed=i, noise=3) for i, (x, y) in enumerate(shifts)]
    whole = follow(analyser, pictures)
    tracker = Tracker(analyser)
    late = [tracker.update(frame) for frame in frames(pictures)[13:]]
    for first, second in zip(whole[25:], late[12:], strict=True):
        width = np.ptp(first[0].face.landmarks[:, 0])
        off = np.linalg.norm((first[0].face.landmarks - second[0].face.landmarks)[:, :2], axis=1)
        # Less than the landmarks themselves tremble.
        assert off.mean() < 0.004 * width
        assert off.max() < 0.015 * width
        assert first[0].fade == second[0].fade


def test_nobody_is_nobody_and_reset_forgets(analyser: FaceAnalyser):
    wall = [stage(seed=i) for i in range(3)]
    assert follow(analyser, wall) == [[]] * 3
    tracker = Tracker(analyser)
    frame = ArrayFrame(stage((GRACE, 250, 190)))
    assert tracker.update(frame)[0].fresh
    tracker.reset()
    (again,) = tracker.update(frame)
    assert again.fresh
    assert again.track == 1


@pytest.mark.parametrize(
    ("period", "last", "now", "due"),
    [
        (0.2, None, 0.0, True),
        (0.2, 0.1, 0.19, False),
        (0.2, 0.19, 0.2, True),
        (0.2, 0.2, 0.233, False),
        (3, 2, 9, True),
    ],
)
def test_searches_hang_on_time_stamps(period: float, last: float | None, now: float, due: bool):
    assert passed(period, last, now) is due


def test_identities_are_exchanged_only_when_that_clearly_fits_better():
    one, two = np.eye(128, dtype=np.float32)[:2]
    assert not exchanged(one, two, one, two)
    assert exchanged(one, two, two, one)
    between = (one + two) / 2
    assert not exchanged(one, two, between, between)
