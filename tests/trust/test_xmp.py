"""The AI-content object in XMP: what the packet said before stays, and others can read what was added."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from mien.trust.xmp import NAMESPACE, read_aigc, with_aigc

RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
DC = "{http://purl.org/dc/elements/1.1/}"
PACKET = (
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about="uuid:7" xmlns:dc="http://purl.org/dc/elements/1.1/" dc:format="image/jpeg">'
    "<dc:title>Größe &amp; &lt;Maß&gt; 目</dc:title></rdf:Description></rdf:RDF></x:xmpmeta>\n   "
    '<?xpacket end="w"?>'
).encode()
TEXT = '{"Label":"1","x":"a<b&c"}'


def objects(packet: bytes) -> list[str | None]:
    """By another reader."""
    return [element.text for element in ElementTree.fromstring(packet).iter(f"{{{NAMESPACE}}}AIGC")]


@pytest.mark.parametrize("packet", [None, PACKET, PACKET.decode().encode("utf-16"), PACKET + b"\0\0"])
def test_what_is_written_is_read_by_us_and_by_others(packet: bytes | None) -> None:
    written = with_aigc(packet, TEXT)
    assert read_aigc(written) == TEXT
    assert objects(written) == [TEXT]


def test_what_was_said_before_stays() -> None:
    root = ElementTree.fromstring(with_aigc(PACKET, TEXT))
    first, second = root.iter(f"{RDF}Description")
    assert first.get(f"{DC}format") == "image/jpeg"
    assert first.findtext(f"{DC}title") == "Größe & <Maß> 目"
    assert {first.get(f"{RDF}about"), second.get(f"{RDF}about")} == {"uuid:7"}
    assert with_aigc(PACKET, TEXT).startswith(PACKET[:50])


def test_there_is_never_more_than_one() -> None:
    again = with_aigc(with_aigc(PACKET, "old"), TEXT)
    assert objects(again) == [TEXT]
    as_attribute = PACKET.replace(b" dc:format=", f' xmlns:T="{NAMESPACE}" T:AIGC="old" dc:format='.encode())
    assert read_aigc(as_attribute) == "old"
    assert read_aigc(with_aigc(as_attribute, TEXT)) == TEXT
    assert b'"old"' not in with_aigc(as_attribute, TEXT)


def test_a_packet_without_the_object_has_none() -> None:
    assert read_aigc(PACKET) is None


@pytest.mark.parametrize(
    "packet",
    [b"no xml", b"<a/>", PACKET[:200], b"\xff" * 40, b'<!DOCTYPE a [<!ENTITY b "c">]>' + PACKET[60:]],
    ids=["text", "no RDF", "cut short", "bytes", "entities"],
)
def test_what_is_no_xmp_is_refused(packet: bytes) -> None:
    with pytest.raises(ValueError, match=r"XML|RDF|document type"):
        with_aigc(packet, TEXT)
