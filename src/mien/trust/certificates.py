"""The certificate that results are signed with: the user's own, or one that an installation makes for itself."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from mien.errors import UnreadableError, UnwritableError, UsageError
from mien.trust.places import TRUST_VARIABLE

FILE_NAME = "signer.pem"
"""Key, certificate and issuer of an installation, in its trust folder."""

_LIFETIME = timedelta(days=3652)
_SKEW = timedelta(hours=1)
"""A clock that is a little slow still finds a new certificate valid."""

_CURVES = {"secp256r1": "es256", "secp384r1": "es384", "secp521r1": "es512"}


@dataclass(frozen=True, slots=True)
class Signer:
    """A certificate and its key."""

    algorithm: str
    """COSE algorithm, as C2PA names it: `es256`, `ps256`, `ed25519`, ..."""
    chain: bytes
    """PEM: the certificate, then its issuers."""
    key: bytes
    """PEM, PKCS8."""
    own: bool
    """Made by this installation for itself: nobody else vouches for it."""

    @property
    def name(self) -> str:
        """Who signs, as the certificate says."""
        return _name_of(x509.load_pem_x509_certificates(self.chain)[0].subject)

    @property
    def anchor(self) -> bytes:
        """PEM of the last issuer in the chain."""
        return x509.load_pem_x509_certificates(self.chain)[-1].public_bytes(Encoding.PEM)


def signer_of(certificate: Path, private_key: Path) -> Signer:
    """The signer of a user's own files.

    Args:
        certificate: PEM, the issuers' certificates after the signer's own.
        private_key: PEM, without a pass phrase.

    Raises:
        UnreadableError: a file cannot be read.
        UsageError: it holds something else, the two do not belong together, or the certificate is out of date.
    """
    chain, key = _read_chain(certificate), _read_key(private_key)
    leaf = chain[0]
    if _public(leaf.public_key()) != _public(key.public_key()):
        raise UsageError(f"the key {private_key} is not that of {certificate}: give the two that belong together")
    if not leaf.not_valid_before_utc <= datetime.now(UTC) <= leaf.not_valid_after_utc:
        until = f"{leaf.not_valid_before_utc:%Y-%m-%d} to {leaf.not_valid_after_utc:%Y-%m-%d}"
        raise UsageError(f"the certificate {certificate} is valid from {until}: give one that is valid today")
    algorithm = _algorithm_of(key)
    if algorithm is None:
        raise UsageError(f"the key {private_key} is of a kind that C2PA does not know: give an EC, Ed25519 or RSA key")
    return Signer(algorithm, _pem(chain), _key_pem(key), own=False)


def own_signer(folder: Path) -> Signer:
    """The signer of this installation, kept in `folder` and made at first use; its key is its owner's to read only.

    Raises:
        UnwritableError: it cannot be kept.
        UnreadableError: what is kept there cannot be read.
    """
    path = folder / FILE_NAME
    if (kept := _load_own(path)) is not None:
        return kept
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _keep(path, _make())
    except OSError as error:
        raise UnwritableError(
            f"the signer of this installation cannot be kept in {folder} ({error.strerror}): set {TRUST_VARIABLE} to a"
            " folder that can be written"
        ) from error
    made = _load_own(path)
    assert made is not None
    return made


def passing_signer() -> Signer:
    """A signer for one result, of an installation that cannot keep its own."""
    pem = _make()
    chain, key = x509.load_pem_x509_certificates(pem), load_pem_private_key(pem, None)
    return Signer("es256", _pem(chain), _key_pem(key), own=True)


def own_anchor(folder: Path) -> bytes | None:
    """PEM of the certificate that issued this installation's own; None if it has none yet.

    Raises:
        UnreadableError: what is kept there cannot be read.
    """
    kept = _load_own(folder / FILE_NAME)
    return kept.anchor if kept else None


def _load_own(path: Path) -> Signer | None:
    """What is kept, or None if nothing is or it is out of date."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnreadableError(f"the signer of this installation, {path}, cannot be read: {error.strerror}") from error
    try:
        chain, key = x509.load_pem_x509_certificates(data), load_pem_private_key(data, None)
    except ValueError as error:
        raise UnreadableError(
            f"the signer of this installation, {path}, is damaged: delete it, another is made"
        ) from error
    if datetime.now(UTC) > chain[0].not_valid_after_utc:
        return None
    return Signer("es256", _pem(chain), _key_pem(key), own=True)


def _keep(path: Path, pem: bytes) -> None:
    """Write for the owner alone. Of two who make one at the same time, both end with a whole file."""
    beside = path.with_name(f".{secrets.token_hex(4)}.part")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pem)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _make() -> bytes:
    """A key, its certificate, and the authority that issued it; that one's key is forgotten: it signs nothing more."""
    now, number = datetime.now(UTC), secrets.token_hex(4)
    authority, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority_name = _name(number, "authority")
    root = (
        _builder(authority_name, authority_name, authority.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(key_cert_sign=True, crl_sign=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), critical=False)
        .sign(authority, SHA256())
    )
    # What C2PA asks of a signer's certificate (specification 2.x, 14.5.1).
    leaf = (
        _builder(_name(number, "signer"), authority_name, key.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False)
        .sign(authority, SHA256())
    )
    return _key_pem(key) + _pem([leaf, root])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _LIFETIME)
    )


def _name(number: str, part: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, f"mien installation {number} (vouched for by nobody)"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"mien {part} {number}"),
        ]
    )


def _usage(**used: bool) -> x509.KeyUsage:
    names = (
        *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
        *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
    )
    return x509.KeyUsage(**{name: used.get(name, False) for name in names})


def _name_of(subject: x509.Name) -> str:
    for kind in (NameOID.ORGANIZATION_NAME, NameOID.COMMON_NAME):
        if found := subject.get_attributes_for_oid(kind):
            return str(found[0].value)
    return subject.rfc4514_string()


def _read_chain(path: Path) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(_read(path))
    except ValueError as error:
        raise UsageError(f"{path} holds no certificate in PEM: give the signer's and those of its issuers") from error


def _read_key(path: Path) -> PrivateKeyTypes:
    try:
        return load_pem_private_key(_read(path), None)
    except TypeError as error:
        raise UsageError(f"the key {path} is protected by a pass phrase: give one without") from error
    except ValueError as error:
        raise UsageError(f"{path} holds no private key in PEM: give the certificate's key") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}") from error


def _algorithm_of(key: PrivateKeyTypes) -> str | None:
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return _CURVES.get(key.curve.name)
    if isinstance(key, rsa.RSAPrivateKey):
        return "ps256"
    return "ed25519" if isinstance(key, ed25519.Ed25519PrivateKey) else None


def _public(key: object) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined]


def _pem(chain: Sequence[x509.Certificate]) -> bytes:
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in chain)


def _key_pem(key: PrivateKeyTypes) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
