"""Where networks are found, what is known of their files, and what is refused."""

from __future__ import annotations

import hashlib
import os
import socket
import zlib
from pathlib import Path

import pytest

from mien.errors import ModelError, PolicyError, UnwritableError, UsageError
from mien.models import checksum, places
from mien.models.catalogue import find_model
from mien.models.checksum import checksum_of
from mien.models.download import Patience
from mien.models.register import add_to_register, describe_file, read_register
from mien.models.store import ModelStore
from support.mirror import serve

CONTENT = b"a network, as far as a store can tell"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SELFIE = find_model("selfie_segmentation")
AT_ONCE = Patience(attempts=2, pause_s=0)


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


@pytest.fixture
def downloads(tmp_path):
    return tmp_path / "cache" / "models"


def store_of(*folders: Path, downloads: Path, **options) -> ModelStore:
    return ModelStore(folders, downloads=downloads, digests=downloads.parent / "digests", **options)


def put(folder: Path, name: str, content: bytes = CONTENT) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


class TestWhereNetworksAreFound:
    def test_folders_go_before_downloads_and_these_before_mien(self, mine, downloads):
        located = store_of(mine, downloads=downloads).locate(SELFIE.id)
        assert (located.path, located.place, located.verified) == (SELFIE.path, "bundled", True)
        put(downloads, SELFIE.file, SELFIE.path.read_bytes())
        assert store_of(mine, downloads=downloads).locate(SELFIE.id).place == "cache"
        own = put(mine, SELFIE.file, SELFIE.path.read_bytes())
        located = store_of(mine, downloads=downloads).locate(SELFIE.id)
        assert (located.path, located.place, located.verified) == (own, "folder", True)

    def test_the_first_folder_that_has_it_is_taken(self, tmp_path, downloads):
        put(tmp_path / "b", "gfpgan_1.4.onnx")
        first = put(tmp_path / "a", "gfpgan_1.4.onnx")
        store = store_of(tmp_path / "a", tmp_path / "b", downloads=downloads)
        assert store.locate("gfpgan_1.4").path == first

    def test_other_names_and_folders_one_below_are_understood(self, mine, downloads):
        path = put(mine / "restorers", "GFPGANv1.4.onnx")
        assert store_of(mine, downloads=downloads).locate("gfpgan_1.4").path == path

    def test_what_is_nowhere_is_an_error_that_says_where_it_was_looked_for(self, mine, downloads):
        with pytest.raises(ModelError) as missing:
            store_of(mine, downloads=downloads).locate("gfpgan_1.4")
        for part in ("gfpgan_1.4.onnx or GFPGANv1.4.onnx", str(mine), str(downloads), "--models", "MIEN_MODELS"):
            assert part in str(missing.value)

    def test_an_unknown_network_is_an_error_that_names_those_like_it(self, downloads):
        with pytest.raises(ModelError, match="no network 'inswaper_128': did you mean inswapper_128"):
            store_of(downloads=downloads).locate("inswaper_128")
        with pytest.raises(ModelError, match="mien models list"):
            store_of(downloads=downloads).locate("0")

    def test_dfm_files_are_networks_under_their_own_names(self, mine, downloads):
        path = put(mine / "someone", "Jane_Doe_224.dfm")
        located = store_of(mine, downloads=downloads).locate("Jane_Doe_224")
        assert (located.path, located.entry.family, located.entry.role) == (path, "deep_swapper", "swapper")


class TestFilesNamedByTheirPath:
    def test_the_family_is_enough(self, mine, downloads):
        located = store_of(downloads=downloads).locate_file(put(mine, "new.onnx"), "gfpgan")
        assert (located.entry.id, located.entry.role, located.entry.permits) == ("new", "restorer", "unknown")
        assert not located.verified

    def test_a_checksum_beside_it_counts(self, mine, downloads):
        path = put(mine, "new.onnx")
        with pytest.raises(PolicyError, match="only verified files"):
            store_of(downloads=downloads, strict=True).locate_file(path, "gfpgan")
        (mine / "new.onnx.sha256").write_text(SHA256)
        assert store_of(downloads=downloads, strict=True).locate_file(path, "gfpgan").verified

    def test_a_licence_that_is_not_known_is_not_commercial(self, mine, downloads):
        with pytest.raises(PolicyError, match="new is refused: its licence"):
            store_of(downloads=downloads, profile="commercial").locate_file(put(mine, "new.onnx"), "gfpgan")

    def test_what_is_wrong_is_told(self, mine, downloads):
        with pytest.raises(UsageError, match="no model family 'gfp': it is one of"):
            store_of(downloads=downloads).locate_file(put(mine, "new.onnx"), "gfp")
        with pytest.raises(ModelError, match="no such file"):
            store_of(downloads=downloads).locate_file(mine / "gone.onnx", "gfpgan")


class TestWhatIsKnownOfAFile:
    def test_a_file_without_a_known_checksum_is_used_unverified(self, mine, downloads):
        put(mine, "gfpgan_1.4.onnx")
        located = store_of(mine, downloads=downloads).locate("gfpgan_1.4")
        assert not located.verified
        assert located.why == "no checksum of it is known"

    def test_a_file_with_another_checksum_is_used_and_named_as_unverified(self, mine, downloads):
        put(mine, SELFIE.file)
        located = store_of(mine, downloads=downloads).locate(SELFIE.id)
        assert not located.verified
        assert SHA256 in located.why
        assert SELFIE.sha256 in located.why

    @pytest.mark.parametrize("name", ["gfpgan_1.4.onnx", SELFIE.file])
    def test_a_strict_policy_refuses_both(self, mine, downloads, name):
        put(mine, name)
        model = SELFIE.id if name == SELFIE.file else "gfpgan_1.4"
        with pytest.raises(PolicyError, match=f"{model} is refused, as only verified files are permitted"):
            store_of(mine, downloads=downloads, strict=True).locate(model)

    def test_a_damaged_file_of_mien_itself_is_an_error(self, monkeypatch, mine, downloads):
        from mien.models import catalogue

        put(mine, SELFIE.file)
        monkeypatch.setattr(catalogue, "BUNDLED_FOLDER", mine)
        with pytest.raises(ModelError, match=r"selfie_segmentation is damaged: its SHA-256.*install mien again"):
            store_of(downloads=downloads).locate(SELFIE.id)

    def test_a_sha256_beside_the_file_verifies_it(self, mine, downloads):
        put(mine, "gfpgan_1.4.onnx")
        (mine / "gfpgan_1.4.onnx.sha256").write_text(f"{SHA256.upper()}  gfpgan_1.4.onnx\n")
        assert store_of(mine, downloads=downloads, strict=True).locate("gfpgan_1.4").verified

    def test_a_crc_beside_the_file_is_a_weaker_check(self, mine, downloads):
        put(mine, "gfpgan_1.4.onnx")
        (mine / "gfpgan_1.4.hash").write_text(f"{zlib.crc32(CONTENT):08x}")
        located = store_of(mine, downloads=downloads).locate("gfpgan_1.4")
        assert not located.verified
        assert located.why == "its CRC32 is the one in gfpgan_1.4.hash beside it, which tells damage and no more"

    def test_another_crc_is_told(self, mine, downloads):
        put(mine, "gfpgan_1.4.onnx")
        (mine / "gfpgan_1.4.hash").write_text("00000001")
        located = store_of(mine, downloads=downloads).locate("gfpgan_1.4")
        assert (
            located.why == f"its CRC32 is {zlib.crc32(CONTENT):08x}, not the one in gfpgan_1.4.hash beside it, 00000001"
        )

    def test_a_file_is_read_once_and_again_when_it_has_changed(self, mine, tmp_path, monkeypatch):
        path, memory, read = put(mine, "net.onnx"), tmp_path / "digests", []
        compute = checksum._compute
        monkeypatch.setattr(checksum, "_compute", lambda *given: read.append(given) or compute(*given))
        assert [checksum_of(path, "sha256", memory) for _ in range(3)] == [SHA256] * 3
        assert len(read) == 1
        path.write_bytes(CONTENT[::-1])
        os.utime(path, ns=(0, 1))
        assert checksum_of(path, "sha256", memory) == hashlib.sha256(CONTENT[::-1]).hexdigest()
        assert len(read) == 2

    def test_a_memory_that_cannot_be_written_costs_time_only(self, mine):
        assert checksum_of(put(mine, "net.onnx"), "sha256", mine / "net.onnx" / "digests") == SHA256


class TestLicences:
    def test_a_profile_refuses_at_load(self, mine, downloads):
        put(mine, "inswapper_128.onnx")
        assert store_of(mine, downloads=downloads).locate("inswapper_128")
        assert store_of(mine, downloads=downloads, profile="non-commercial").locate("inswapper_128")
        with pytest.raises(PolicyError, match="ghost_1_256"):
            store_of(mine, downloads=downloads, profile="commercial").locate("inswapper_128")

    def test_a_licence_that_the_user_has_goes_before_the_catalogue_s(self, mine, downloads):
        entry = describe_file(
            put(mine, "inswapper_128.onnx"), family="inswapper", licence="contract 17", permits="commercial"
        )
        store = store_of(downloads=downloads, added={entry.id: entry}, profile="commercial", strict=True)
        located = store.locate("inswapper_128")
        assert (located.place, located.verified) == ("added", True)


class TestNetworksOfTheUsersOwn:
    @pytest.fixture
    def register(self, tmp_path):
        return tmp_path / "settings" / "models.toml"

    def test_what_is_added_is_read_again(self, mine, register):
        odd = put(mine, 'my "net" \\ \x7f \N{GRINNING FACE}.onnx')
        first = describe_file(odd, family="inswapper", id="my-net")
        second = describe_file(put(mine, "b.onnx"), family="gfpgan", licence="MIT", permits="commercial")
        add_to_register(register, first)
        add_to_register(register, second)
        assert read_register(register) == {"my-net": first, "b": second}
        assert (first.role, first.sha256, first.bytes) == ("swapper", SHA256, len(CONTENT))
        assert [path.name for path in register.parent.iterdir() if path.suffix == ".toml"] == ["models.toml"]

    def test_an_id_is_taken_once_unless_asked_for(self, mine, register):
        entry = describe_file(put(mine, "a.onnx"), family="gfpgan")
        add_to_register(register, entry)
        with pytest.raises(UsageError, match=r"'a' is .*a\.onnx already"):
            add_to_register(register, entry)
        again = describe_file(put(mine, "a.onnx", b"more"), family="gfpgan")
        add_to_register(register, again, overwrite=True)
        assert read_register(register) == {"a": again}

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"family": "inswap"}, "no model family 'inswap': it is one of retinaface"),
            ({"family": "gfpgan", "id": "a b"}, "'a b' is no id"),
            ({"family": "gfpgan", "id": "../x"}, "is no id"),
            ({"family": "gfpgan", "id": SELFIE.id}, "comes with mien"),
        ],
    )
    def test_what_cannot_be_added_is_wrong_use(self, mine, options, said):
        with pytest.raises(UsageError, match=said):
            describe_file(put(mine, "a.onnx"), **options)

    def test_a_file_that_is_not_there_cannot_be_added(self, mine):
        with pytest.raises(ModelError, match=r"gone\.onnx cannot be read: No such file"):
            describe_file(mine / "gone.onnx", family="gfpgan")

    def test_a_file_that_has_changed_or_gone_is_told(self, mine, downloads):
        path = put(mine, "a.onnx")
        store = store_of(downloads=downloads, added={"a": describe_file(path, family="gfpgan")})
        path.write_bytes(b"other")
        located = store.locate("a")
        assert not located.verified
        assert "not the one it had when it was added" in located.why
        path.unlink()
        with pytest.raises(ModelError, match=r"a is missing: .*a\.onnx is gone; add it again"):
            store.locate("a")

    @pytest.mark.parametrize(
        "text",
        [
            "model = 3",
            "[[model]]\nid = 'a'",
            "[[model",
            "[[model]]\nid='a'\nfamily='none'\npath='a'\nbytes=1\nsha256=''\nlicence=''\npermits='unknown'",
            "[[model]]\nid='a'\nfamily='gfpgan'\npath='a'\nbytes=1\nsha256=''\nlicence=''\npermits='all'",
            "[[model]]\nid='a'\nfamily='gfpgan'\npath=1\nbytes=1\nsha256=''\nlicence=''\npermits='unknown'",
        ],
    )
    def test_a_list_that_somebody_broke_is_told(self, register, text):
        put(register.parent, register.name, text.encode())
        with pytest.raises(ModelError, match=r"models\.toml does not list networks"):
            read_register(register)

    def test_a_list_that_cannot_be_written_is_told(self, mine):
        entry = describe_file(put(mine, "a.onnx"), family="gfpgan")
        with pytest.raises(UnwritableError, match="cannot be written"):
            add_to_register(mine / "a.onnx" / "models.toml", entry)


class TestDownloads:
    @pytest.fixture
    def mirror(self, monkeypatch):
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        files = {"/gfpgan_1.4.onnx": CONTENT, f"/{SELFIE.file}": SELFIE.path.read_bytes()}
        with serve(files) as mirror:
            yield mirror

    def test_a_known_file_needs_no_more_than_the_mirror(self, mirror, downloads):
        store = store_of(downloads=downloads)
        located = store.fetch(SELFIE.id, mirror.url)
        assert (located.path, located.place, located.verified) == (downloads / SELFIE.file, "cache", True)
        assert store.locate(SELFIE.id) == located

    def test_a_download_that_was_damaged_later_is_an_error_and_mended_by_the_next(self, mirror, downloads):
        store = store_of(downloads=downloads)
        path = store.fetch(SELFIE.id, mirror.url).path
        path.write_bytes(b"damaged")
        with pytest.raises(ModelError, match="`mien models fetch selfie_segmentation` gets it again"):
            store.locate(SELFIE.id)
        assert store.fetch(SELFIE.id, mirror.url).verified
        assert store.locate(SELFIE.id).verified

    def test_the_wrong_file_is_refused(self, mirror, downloads):
        mirror.files[f"/{SELFIE.file}"] = SELFIE.path.read_bytes()[::-1]
        with pytest.raises(ModelError, match="nothing is kept"):
            store_of(downloads=downloads).fetch(SELFIE.id, mirror.url, patience=AT_ONCE)
        assert [path.name for path in downloads.iterdir()] == [".locks"]

    def test_without_a_known_checksum_nothing_is_fetched(self, mirror, downloads):
        with pytest.raises(ModelError, match=r"the catalogue knows no SHA-256 of it.*--sha256"):
            store_of(downloads=downloads).fetch("gfpgan_1.4", mirror.url)
        assert mirror.requests == []

    def test_a_checksum_that_the_user_gives_is_remembered(self, mirror, downloads):
        store_of(downloads=downloads).fetch("gfpgan_1.4", mirror.url, sha256=f"sha256:{SHA256.upper()}")
        located = store_of(downloads=downloads, strict=True).locate("gfpgan_1.4")
        assert (located.place, located.verified) == ("cache", True)

    @pytest.mark.parametrize(("given", "said"), [("abc", "is no SHA-256"), ("0" * 64, "in the catalogue, not 000")])
    def test_a_checksum_that_makes_no_sense_is_wrong_use(self, mirror, downloads, given, said):
        with pytest.raises(UsageError, match=said):
            store_of(downloads=downloads).fetch(SELFIE.id, mirror.url, sha256=given)

    def test_a_licence_that_is_not_permitted_is_not_fetched(self, mirror, downloads):
        with pytest.raises(PolicyError):
            store_of(downloads=downloads, profile="commercial").fetch("codeformer", mirror.url, sha256=SHA256)
        assert mirror.requests == []

    def test_the_user_s_own_file_is_not_fetched(self, mine, mirror, downloads):
        entry = describe_file(put(mine, "a.onnx"), family="gfpgan")
        with pytest.raises(UsageError, match="your own file"):
            store_of(downloads=downloads, added={"a": entry}).fetch("a", mirror.url)


class TestOffline:
    @pytest.fixture
    def no_socket(self, monkeypatch):
        opened = []

        def refuse(*given, **_named):
            opened.append(given)
            raise AssertionError("a socket was opened")

        for name in ("socket", "create_connection", "getaddrinfo", "gethostbyname"):
            monkeypatch.setattr(socket, name, refuse)
        return opened

    def test_no_socket_is_opened(self, mine, downloads, no_socket):
        put(mine, "gfpgan_1.4.onnx")
        store = store_of(mine, downloads=downloads, offline=True)
        store.locate("gfpgan_1.4")
        store.locate(SELFIE.id)
        with pytest.raises(ModelError):
            store.locate("codeformer")
        with pytest.raises(
            PolicyError, match="selfie_segmentation is not downloaded: the network is not to be touched"
        ):
            store.fetch(SELFIE.id, "https://example.org/models")
        assert no_socket == []

    def test_no_socket_is_opened_to_find_a_network_online_either(self, downloads, no_socket):
        store = store_of(downloads=downloads)
        store.locate(SELFIE.id)
        with pytest.raises(ModelError):
            store.locate("codeformer")
        assert no_socket == []

    def test_a_folder_is_no_network(self, mine, downloads, no_socket):
        put(mine, SELFIE.file, SELFIE.path.read_bytes())
        assert store_of(downloads=downloads, offline=True).fetch(SELFIE.id, str(mine)).verified
        assert no_socket == []


class TestTheEnvironment:
    @pytest.fixture(autouse=True)
    def bare(self, monkeypatch, tmp_path):
        for name in ("MIEN_MODELS", "MIEN_OFFLINE", "MIEN_MIRROR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("MIEN_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("MIEN_REGISTER", str(tmp_path / "models.toml"))

    def test_folders_given_go_before_those_of_the_variable(self, tmp_path, monkeypatch):
        for name in ("a", "b", "c"):
            put(tmp_path / name, f"gpen_bfr_{'512' if name != 'c' else '1024'}.onnx")
        monkeypatch.setenv("MIEN_MODELS", os.pathsep.join([str(tmp_path / "b"), str(tmp_path / "c")]))
        store = ModelStore.of_user([tmp_path / "a"])
        assert store.locate("gpen_bfr_512").path.parent == tmp_path / "a"
        assert store.locate("gpen_bfr_1024").path.parent == tmp_path / "c"
        assert ModelStore.of_user().locate("gpen_bfr_512").path.parent == tmp_path / "b"

    def test_the_models_of_a_facefusion_folder_are_found(self, tmp_path):
        path = put(tmp_path / "facefusion" / ".assets" / "models", "inswapper_128.onnx")
        assert ModelStore.of_user([tmp_path / "facefusion"]).locate("inswapper_128").path == path

    @pytest.mark.parametrize("as_variable", [True, False])
    def test_a_folder_that_is_none_is_wrong_use(self, tmp_path, monkeypatch, as_variable):
        if as_variable:
            monkeypatch.setenv("MIEN_MODELS", str(tmp_path / "gone"))
        with pytest.raises(UsageError, match="gone is no folder: " + ("MIEN_MODELS" if as_variable else "--models")):
            ModelStore.of_user([] if as_variable else [tmp_path / "gone"])

    def test_the_user_s_own_list_is_read(self, tmp_path):
        add_to_register(places.register_file(), describe_file(put(tmp_path / "x", "a.onnx"), family="gfpgan"))
        assert ModelStore.of_user().locate("a").place == "added"

    @pytest.mark.parametrize(("value", "offline"), [("1", True), ("yes", True), ("0", False), ("", False)])
    def test_offline_by_the_environment(self, monkeypatch, value, offline):
        monkeypatch.setenv("MIEN_OFFLINE", value)
        assert places.is_offline() is offline

    def test_the_mirror_by_the_environment(self, monkeypatch):
        assert places.default_mirror() is None
        monkeypatch.setenv("MIEN_MIRROR", "https://example.org")
        assert places.default_mirror() == "https://example.org"
