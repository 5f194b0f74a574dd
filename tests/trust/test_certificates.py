"""The installation's own signer is made once, for its owner alone; a user's own files are checked before any work."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from mien.errors import UnreadableError, UsageError
from mien.trust.certificates import FILE_NAME, own_anchor, own_signer, signer_of


def certificate_of(key, days: float = 30) -> bytes:
    now = datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Studio")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(7).not_valid_before(now - timedelta(days=90))
    algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey) else SHA256()
    return builder.not_valid_after(now + timedelta(days=days)).sign(key, algorithm).public_bytes(Encoding.PEM)


def key_pem(key, form=PrivateFormat.PKCS8, encryption=None) -> bytes:
    return key.private_bytes(Encoding.PEM, form, encryption or NoEncryption())


def files(tmp_path: Path, certificate: bytes, key: bytes) -> tuple[Path, Path]:
    (tmp_path / "c.pem").write_bytes(certificate)
    (tmp_path / "k.pem").write_bytes(key)
    return tmp_path / "c.pem", tmp_path / "k.pem"


EC = ec.generate_private_key(ec.SECP256R1())


class TestOwn:
    def test_it_is_made_once(self, tmp_path: Path) -> None:
        assert own_anchor(tmp_path) is None
        first = own_signer(tmp_path / "new" / "trust")
        assert first == own_signer(tmp_path / "new" / "trust")
        assert first.own
        assert "nobody" in first.name
        assert own_anchor(tmp_path / "new" / "trust") == first.anchor

    def test_two_installations_have_two(self, tmp_path: Path) -> None:
        assert own_signer(tmp_path / "a").key != own_signer(tmp_path / "b").key

    def test_only_its_owner_may_read_it(self, tmp_path: Path) -> None:
        own_signer(tmp_path / "trust")
        assert stat.S_IMODE((tmp_path / "trust" / FILE_NAME).stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "trust").stat().st_mode) == 0o700

    def test_many_at_once_find_whole_files(self, tmp_path: Path) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: own_signer(tmp_path), range(8)))
        assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]

    def test_what_the_certificate_says_is_what_c2pa_asks_for(self, tmp_path: Path) -> None:
        leaf, root = x509.load_pem_x509_certificates(own_signer(tmp_path).chain)
        leaf.verify_directly_issued_by(root)
        constraints = leaf.extensions.get_extension_for_class(x509.BasicConstraints)
        usage = leaf.extensions.get_extension_for_class(x509.KeyUsage)
        purposes = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert not constraints.value.ca
        assert usage.critical
        assert usage.value.digital_signature
        assert not usage.value.key_cert_sign
        assert list(purposes) == [ExtendedKeyUsageOID.EMAIL_PROTECTION]
        issuer = leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
        assert issuer == root.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
        assert root.extensions.get_extension_for_class(x509.BasicConstraints).value.ca

    def test_a_damaged_one_is_said(self, tmp_path: Path) -> None:
        (tmp_path / FILE_NAME).write_text("nothing")
        with pytest.raises(UnreadableError, match="is damaged: delete it"):
            own_signer(tmp_path)


class TestOfTheUser:
    @pytest.mark.parametrize(
        ("key", "algorithm"),
        [
            (EC, "es256"),
            (ec.generate_private_key(ec.SECP384R1()), "es384"),
            (ec.generate_private_key(ec.SECP521R1()), "es512"),
            (ed25519.Ed25519PrivateKey.generate(), "ed25519"),
            (rsa.generate_private_key(65537, 2048), "ps256"),
        ],
    )
    def test_the_key_decides_the_algorithm(self, tmp_path: Path, key, algorithm: str) -> None:
        signer = signer_of(*files(tmp_path, certificate_of(key), key_pem(key)))
        assert (signer.algorithm, signer.own, signer.name) == (algorithm, False, "Studio")

    def test_older_forms_of_keys_are_read(self, tmp_path: Path) -> None:
        signer = signer_of(*files(tmp_path, certificate_of(EC), key_pem(EC, PrivateFormat.TraditionalOpenSSL)))
        assert b"BEGIN PRIVATE KEY" in signer.key

    @pytest.mark.parametrize(
        ("certificate", "key", "problem"),
        [
            (b"nothing", key_pem(EC), r"c\.pem holds no certificate"),
            (certificate_of(EC), b"nothing", r"k\.pem holds no private key"),
            (certificate_of(EC), key_pem(ec.generate_private_key(ec.SECP256R1())), "is not that of"),
            (certificate_of(EC, days=-1), key_pem(EC), "valid from .* to .*: give one that is valid today"),
            (certificate_of(EC), key_pem(EC, encryption=BestAvailableEncryption(b"x")), "pass phrase"),
        ],
    )
    def test_what_cannot_be_used_is_said(self, tmp_path: Path, certificate: bytes, key: bytes, problem: str) -> None:
        with pytest.raises(UsageError, match=problem):
            signer_of(*files(tmp_path, certificate, key))

    def test_a_kind_of_key_that_c2pa_does_not_know(self, tmp_path: Path) -> None:
        key = dsa.generate_private_key(1024)
        with pytest.raises(UsageError, match="of a kind that C2PA does not know"):
            signer_of(*files(tmp_path, certificate_of(key), key_pem(key)))

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableError, match=r"none\.pem cannot be read"):
            signer_of(tmp_path / "none.pem", tmp_path / "none.pem")
