"""Sealed contents: nobody reads them without the key, and no change goes unnoticed."""

from __future__ import annotations

import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mien.errors import UnwritableError, VaultError
from mien.trust.vault import Vault, open_vault, write_private

SECRET = b"the face of somebody " * 20


def test_what_is_sealed_opens_again_and_does_not_show(tmp_path: Path) -> None:
    sealed = open_vault(tmp_path).seal("one", SECRET)
    assert open_vault(tmp_path).unseal("one", sealed) == SECRET
    assert SECRET[:8] not in sealed
    assert open_vault(tmp_path).seal("one", SECRET) != sealed


def test_it_opens_under_its_own_name_only(tmp_path: Path) -> None:
    vault = open_vault(tmp_path)
    with pytest.raises(VaultError, match="two does not open"):
        vault.unseal("two", vault.seal("one", SECRET))


def test_it_opens_with_its_own_key_only() -> None:
    with pytest.raises(VaultError, match="another key than this installation's"):
        Vault.passing().unseal("one", Vault.passing().seal("one", SECRET))


def test_no_changed_or_missing_byte_goes_unnoticed() -> None:
    vault = Vault.passing()
    sealed = vault.seal("one", b"short")
    for place in range(len(sealed)):
        changed = bytearray(sealed)
        changed[place] ^= 1
        with pytest.raises(VaultError):
            vault.unseal("one", bytes(changed))
        with pytest.raises(VaultError):
            vault.unseal("one", sealed[:place])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_the_key_is_its_owners_alone(tmp_path: Path) -> None:
    open_vault(tmp_path / "trust")
    key = tmp_path / "trust" / "key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    key.chmod(0o640)
    with pytest.raises(VaultError, match=r"can be read by others: .*chmod 600"):
        open_vault(tmp_path / "trust")


def test_a_damaged_key_is_said(tmp_path: Path) -> None:
    write_private(tmp_path / "key", b"short")
    with pytest.raises(VaultError, match=r"is damaged \(5 bytes instead of 32\)"):
        open_vault(tmp_path)


def test_a_lost_key_is_not_replaced_while_something_needs_it(tmp_path: Path) -> None:
    sealed = open_vault(tmp_path).seal("one", SECRET)
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "one.sealed").write_bytes(sealed)
    (tmp_path / "key").unlink()
    with pytest.raises(VaultError, match="is gone, with which the records beside it were encrypted"):
        open_vault(tmp_path)
    assert not (tmp_path / "key").exists()


def test_those_who_come_at_once_share_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        vaults = list(pool.map(lambda _: open_vault(tmp_path), range(32)))
    sealed = vaults[0].seal("one", SECRET)
    assert all(vault.unseal("one", sealed) == SECRET for vault in vaults)
    assert os.listdir(tmp_path) == ["key"]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableError, match="cannot be written"):
        open_vault(tmp_path / "file" / "trust")
