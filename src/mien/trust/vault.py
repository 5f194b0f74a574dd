"""What is kept encrypted with a key that never leaves the installation: AES-256-GCM, the key in a file of its own."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import Final

from mien.errors import UnwritableError, VaultError
from mien.media.files import renaming, writing

SEALED: Final = ".sealed"
"""What the names of sealed files end in."""
_MAGIC: Final = b"mien-sealed-1\n"
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
"""Of GCM. Drawn at random: safe for 2^32 messages under one key (NIST SP 800-38D, 8.3)."""
_OTHERS: Final = 0o077


class Vault:
    """Seals and opens small contents. What is sealed under one name does not open under another."""

    def __init__(self, key: bytes) -> None:
        """Args:
        key: 32 bytes; see `open_vault`.
        """
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._cipher = AESGCM(key)

    @classmethod
    def passing(cls) -> Vault:
        """One whose key ends with it."""
        return cls(secrets.token_bytes(_KEY_BYTES))

    def seal(self, name: str, content: bytes) -> bytes:
        """The content, encrypted, to be opened under the same name."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return _MAGIC + nonce + self._cipher.encrypt(nonce, content, name.encode())

    def unseal(self, name: str, sealed: bytes) -> bytes:
        """The content that was sealed.

        Raises:
            VaultError: it is damaged, or was sealed under another name or key.
        """
        from cryptography.exceptions import InvalidTag

        body = sealed.removeprefix(_MAGIC)
        try:
            return self._cipher.decrypt(body[:_NONCE_BYTES], body[_NONCE_BYTES:], name.encode())
        except (InvalidTag, ValueError) as error:
            raise VaultError(
                f"{name} does not open: it is damaged, or was encrypted with another key than this installation's"
            ) from error


def open_vault(folder: Path) -> Vault:
    """The vault of a trust folder; its key, in the file `key`, is made at first use.

    Raises:
        VaultError: the key is damaged or gone, or others may read it.
        UnwritableError: the key cannot be made.
    """
    path = folder / "key"
    if not path.exists():
        if any(folder.glob(f"*/*{SEALED}")):
            raise VaultError(f"the key {path} is gone, with which the records beside it were encrypted: put it back")
        _make_key(path)
    try:
        if sys.platform != "win32" and path.stat().st_mode & _OTHERS:
            raise VaultError(f"the key {path} can be read by others: take their right away (chmod 600 {path})")
        key = path.read_bytes()
    except OSError as error:
        raise VaultError(f"the key {path} cannot be read: {error.strerror or error}") from error
    if len(key) != _KEY_BYTES:
        raise VaultError(
            f"the key {path} is damaged ({len(key)} bytes instead of {_KEY_BYTES}): put it back from a copy; without "
            "it nothing that was encrypted can be read"
        )
    return Vault(key)


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner may look into, and those above it.

    Raises:
        UnwritableError: it cannot be made.
    """
    with writing(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def write_private(path: Path, content: bytes) -> None:
    """Write a whole file that only its owner may read, whole or not at all.

    Raises:
        UnwritableError: it cannot be written.
    """
    with writing(path), renaming(path) as part, os.fdopen(_create(part), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)


def _make_key(path: Path) -> None:
    make_private_folder(path.parent)
    part = path.with_name(f".{secrets.token_hex(4)}.key")
    try:
        with os.fdopen(_create(part), "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
        os.link(part, path)  # Of two who make the key at once, the second finds the first one's.
    except FileExistsError:
        return
    except OSError as error:
        raise UnwritableError(f"the key {path} cannot be made: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
