"""Records of faces: when they hold, whom they match, and that nothing of them can be read on the disk."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import cv2
import numpy as np
import pytest

from mien.errors import ConsentError, UsageError, VaultError
from mien.trust.consent import ConsentStore
from mien.trust.people import BARRED_DISTANCE, CONSENT_DISTANCE, Embedding, digest_of, distance
from mien.trust.permission import check_barred, check_faces, check_records, named_consents
from mien.trust.records import FaceRecord
from support.people import INVENTED, NAMES, analyser, invented, picture

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def face(seed: int = 0) -> Embedding:
    """Somebody's, of the usual length."""
    vector = np.random.default_rng(seed).normal(size=128)
    return (1.4 * vector / np.linalg.norm(vector)).astype(np.float32)


def near(one: Embedding, gap: float) -> Embedding:
    """A face at that distance."""
    away = face(99)
    return (one + gap * away / np.linalg.norm(away)).astype(np.float32)


def record(**changes) -> FaceRecord:
    made = FaceRecord.make("consent", "Ada Byron", (face(),), valid_from=NOON)
    return replace(made, **changes)


@pytest.fixture
def store(tmp_path: Path) -> ConsentStore:
    return ConsentStore(tmp_path / "trust")


def identity(pixels: np.ndarray) -> Embedding:
    return analyser().embed(pixels, analyser().find(pixels)[:1])[0]


class TestState:
    @pytest.mark.parametrize(
        ("changes", "now", "state"),
        [
            ({}, NOON, "valid"),
            ({}, NOON - DAY, "not yet valid"),
            ({"valid_until": NOON + DAY}, NOON + DAY - timedelta(seconds=1), "valid"),
            ({"valid_until": NOON + DAY}, NOON + DAY, "expired"),
            ({"revoked_at": NOON}, NOON, "revoked"),
            ({"revoked_at": NOON, "valid_until": NOON}, NOON + DAY, "revoked"),
        ],
    )
    def test_when_it_holds(self, changes: dict, now: datetime, state: str) -> None:
        assert record(**changes).state(now) == state

    @pytest.mark.parametrize(
        ("scope", "purpose", "permitted"),
        [
            ((), None, True),
            ((), "film", True),
            (("film",), "film", True),
            (("film",), "ad", False),
            (("film",), None, False),
        ],
    )
    def test_what_it_is_for(self, scope: tuple[str, ...], purpose: str | None, permitted: bool) -> None:
        assert record(scope=scope).permits(purpose) is permitted

    def test_it_needs_a_name_and_an_end_after_its_beginning(self) -> None:
        with pytest.raises(UsageError, match="nobody is named"):
            FaceRecord.make("consent", "  ", (face(),))
        with pytest.raises(UsageError, match="before it begins"):
            FaceRecord.make("consent", "Ada", (face(),), valid_from=NOON, valid_until=NOON)


class TestPermission:
    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"revoked_at": NOON - DAY}, r"is revoked \(2026-05-31 12:00 UTC\)"),
            ({"valid_until": NOON}, r"is expired \(2026-06-01 12:00 UTC\)"),
            ({"valid_from": NOON + DAY, "valid_until": NOON + 9 * DAY}, r"is not yet valid \(2026-06-02 12:00 UTC\)"),
            ({"scope": ("film", "ad")}, "is for film, ad, not for 'book'"),
            ({"kind": "barred"}, "is no consent but bars a face"),
        ],
    )
    def test_records_that_do_not_permit(self, changes: dict, said: str) -> None:
        with pytest.raises(ConsentError, match=said) as refusal:
            check_records([record(), record(**changes)], "book", NOON)
        assert (refusal.value.exit_code, refusal.value.problem) == (3, "consent_refused")

    @pytest.mark.parametrize(("gap", "permitted"), [(0.0, True), (0.44, True), (0.46, False), (1.0, False)])
    def test_faces_within_the_bound(self, gap: float, permitted: bool) -> None:
        other = near(face(), gap)
        if permitted:
            check_faces([other], [record()])
        else:
            with pytest.raises(ConsentError, match=f"its distance is {gap:.2f}, and has to be below 0.45"):
                check_faces([other], [record()])

    def test_every_person_needs_a_consent_of_their_own(self) -> None:
        both = [record(), record(embeddings=(face(1), face(2)))]
        check_faces([face(2), face(0)], both)
        with pytest.raises(ConsentError):
            check_faces([face(0), face(3)], both)

    def test_a_face_that_is_deleted_or_not_known_matches_nothing(self) -> None:
        with pytest.raises(ConsentError, match="its distance is inf"):
            check_faces([face()], [record(embeddings=())])
        with pytest.raises(ConsentError, match="knows a person by itself"):
            check_faces([None], [record()])

    @pytest.mark.parametrize(("gap", "barred"), [(0.0, True), (0.49, True), (0.51, False)])
    def test_barred_faces_within_the_bound(self, gap: float, barred: bool) -> None:
        faces, bars = [face(5), near(face(), gap)], [("barred-1", [face(7), face()])]
        if barred:
            with pytest.raises(ConsentError, match=r"a face of the target is barred .* \(record barred-1\)"):
                check_barred(faces, bars, "target")
        else:
            check_barred(faces, bars, "target")

    @pytest.mark.parametrize(("text", "ids"), [(None, ()), ("a", ("a",)), ("a, b,", ("a", "b"))])
    def test_what_a_recipe_names(self, text: str | None, ids: tuple[str, ...]) -> None:
        assert named_consents(text) == ids


class TestBounds:
    """With the real network, on the test portraits."""

    @pytest.mark.parametrize("name", NAMES)
    def test_another_picture_of_one_person_is_within_both(self, name: str) -> None:
        pixels = picture(name)
        small = cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        jpeg = cv2.imdecode(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 30])[1], cv2.IMREAD_COLOR)
        warm = np.clip(pixels * np.array([1.15, 1, 0.8]), 0, 255).astype(np.uint8)
        for other in (small, jpeg, warm, pixels // 2, np.ascontiguousarray(pixels[:, ::-1])):
            assert distance(identity(pixels), identity(other)) < CONSENT_DISTANCE < BARRED_DISTANCE

    def test_other_people_are_outside_both(self) -> None:
        stills = [identity(picture(name)) for name in NAMES]
        strangers = [identity(invented(name)) for name in INVENTED]
        gaps = [distance(one, other) for one in stills for other in (*stills, *strangers) if one is not other]
        assert min(gaps) > BARRED_DISTANCE


class TestStore:
    def test_a_record_comes_back_as_it_was(self, store: ConsentStore) -> None:
        one = record(scope=("film",), valid_until=NOON + DAY, evidence="file:///c/17.pdf")
        store.add(one)
        again = ConsentStore(store.folder).get(one.id)
        assert again == one
        assert np.array_equal(again.embeddings, one.embeddings)
        assert again.digests == (digest_of(face()),)

    def test_nothing_personal_can_be_read_on_the_disk(self, store: ConsentStore) -> None:
        one = record(evidence="file:///contracts/ada.pdf")
        store.add(one)
        numbers = face()
        patterns = [numbers[at : at + 2].tobytes() for at in range(127)]
        patterns += [b"Ada", b"Byron", b"contracts", repr(float(numbers[0]))[:8].encode()]
        files = [path for path in store.folder.rglob("*") if path.is_file()]
        assert len(files) >= 4
        for path in files:
            assert not any(pattern in path.read_bytes() for pattern in patterns), path

    def test_files_are_their_owners_alone(self, store: ConsentStore) -> None:
        store.add(record())
        assert all(path.stat().st_mode & 0o077 == 0 for path in (store.folder / "records").iterdir())

    def test_revoking_and_forgetting_are_seen_by_others_at_once(self, store: ConsentStore) -> None:
        one, other, elsewhere = record(), record(id="consent-2"), ConsentStore(store.folder)
        store.add(one)
        store.add(other)
        assert elsewhere.get(one.id).revoked_at is None
        first = store.revoke(one.id)
        assert elsewhere.get(one.id).revoked_at == first.revoked_at
        assert elsewhere.revoke(one.id) == first
        store.forget(other.id)
        with pytest.raises(UsageError, match=f"there is no record '{other.id}'"):
            elsewhere.get(other.id)
        assert [entry.event for entry in store.audit.entries()] == [
            *("consent.added", "consent.added", "consent.revoked", "record.forgotten")
        ]

    def test_a_bar_holds_until_it_is_lifted(self, store: ConsentStore) -> None:
        bar = FaceRecord.make("barred", "somebody", (face(), face(1)))
        store.add(bar)
        store.add(record())
        ((id, faces),) = store.barred()
        assert id == bar.id
        assert np.array_equal(faces, bar.embeddings)
        store.revoke(bar.id)
        assert list(store.barred()) == []

    def test_faces_go_when_their_time_is_over_and_records_stay(self, store: ConsentStore) -> None:
        ended, open_ended = record(valid_until=NOON + DAY), record(id="consent-2")
        store.add(ended)
        store.add(open_ended)
        assert store.expire(30, NOON + 30 * DAY) == []
        assert store.expire(30, NOON + 31 * DAY) == [ended.id]
        assert store.expire(30, NOON + 400 * DAY) == []
        assert store.get(ended.id).embeddings == ()
        assert store.get(ended.id).digests == ended.digests
        assert len(store.get(open_ended.id).embeddings) == 1

    def test_a_damaged_record_is_named(self, store: ConsentStore) -> None:
        one = record()
        store.add(one)
        path = store.folder / "records" / f"{one.id}.sealed"
        path.write_bytes(path.read_bytes()[:-1])
        for read in (lambda: store.get(one.id), store.all):
            with pytest.raises(VaultError, match=rf"the record .*{one.id}.sealed cannot be used: .*damaged"):
                read()

    def test_a_record_under_another_ones_name_is_refused(self, store: ConsentStore) -> None:
        """As if a consent that holds were copied over one that was revoked."""
        one, other = record(), record(id="consent-2")
        store.add(one)
        store.add(other)
        records = store.folder / "records"
        (records / f"{other.id}.sealed").write_bytes((records / f"{one.id}.sealed").read_bytes())
        with pytest.raises(VaultError, match="does not open"):
            store.get(other.id)

    @pytest.mark.parametrize("id", ["../key", "a/b", "", "A b", "ü"])
    def test_an_id_leads_nowhere_else(self, store: ConsentStore, id: str) -> None:
        with pytest.raises(UsageError, match="is no id of a record"):
            store.get(id)
