from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from mien.errors import ModelError
from mien.models import catalogue as module
from mien.models.catalogue import BUNDLED_FOLDER, bundled, catalogue, families, field_models, find_model
from mien.models.families.registry import FAMILIES

ADAPTED = ("detector", "landmarker", "recogniser", "person_mask")


def test_every_bundled_network_has_an_entry():
    assert {entry.file for entry in bundled().values()} == {path.name for path in BUNDLED_FOLDER.glob("*.onnx")}


@pytest.mark.parametrize("entry", bundled().values(), ids=bundled())
def test_every_file_is_what_the_catalogue_says(entry: module.BundledEntry):
    entry.verify()
    assert (BUNDLED_FOLDER / entry.licence_file).is_file()
    assert "fp32" in entry.precisions
    if entry.role in ADAPTED:
        import_module(f"mien.models.{entry.family}")


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> module.BundledEntry:
    entry = find_model("selfie_segmentation")
    (tmp_path / entry.file).write_bytes(entry.path.read_bytes())
    monkeypatch.setattr(module, "BUNDLED_FOLDER", tmp_path)
    return entry


def test_a_changed_byte_is_found(copied: module.BundledEntry):
    content = bytearray(copied.path.read_bytes())
    content[1000] ^= 1
    copied.path.write_bytes(content)
    copied.check_size()
    with pytest.raises(ModelError, match="selfie_segmentation is damaged: the SHA-256"):
        copied.verify()


def test_a_short_file_is_found_without_reading_it(copied: module.BundledEntry):
    copied.path.write_bytes(copied.path.read_bytes()[:-1])
    with pytest.raises(ModelError, match=f"has {copied.bytes - 1} bytes, not {copied.bytes}; install mien again"):
        copied.check_size()


def test_a_missing_file_is_named():
    gone = replace(find_model("selfie_segmentation"), file="gone.onnx")
    with pytest.raises(ModelError, match=r"selfie_segmentation is missing: .*gone\.onnx"):
        gone.verify()


def test_an_unknown_network_is_an_error_that_names_the_known():
    with pytest.raises(ModelError, match=r"no network 'inswapper'.*face_mesh_478"):
        find_model("inswapper")


def test_every_family_has_its_adapter_and_the_same_role():
    assert {family.name: family.role for family in families().values()} == {
        name: adapter.role for name, adapter in FAMILIES.families.items()
    }


def test_every_family_but_those_of_persons_and_ours_has_a_known_file():
    assert set(families()) - {entry.family for entry in field_models().values()} == {"deep_swapper", "span"}


def test_no_name_of_a_file_stands_for_two_networks():
    names = [name for entry in catalogue().values() for name in entry.files]
    assert len(names) == len(set(names))
    assert len(catalogue()) == len(bundled()) + len(field_models())


@pytest.mark.parametrize("entry", catalogue().values(), ids=catalogue())
def test_an_entry_says_what_may_be_done_with_the_network(entry: module.CatalogueEntry):
    assert entry.permits in get_args(module.Permission)
    assert (entry.licence == "unknown") == (entry.permits == "unknown")
    if "non-commercial" in entry.licence:
        assert entry.permits == "non-commercial"
    assert entry.contract
    assert entry.origin
    assert "->" in entry.contract or entry.contract.startswith("as ")
