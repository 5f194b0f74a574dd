"""The AI-content object in an XMP packet: what else the packet says stays."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from xml.dom import minidom
from xml.parsers.expat import ExpatError

NAMESPACE = "http://www.tc260.org.cn/ns/AIGC/1.0/"
PREFIX = "TC260"
_ELEMENT = "AIGC"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XMLNS = "http://www.w3.org/2000/xmlns/"

_EMPTY = (
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>'
    '<?xpacket end="w"?>'
)


def with_aigc(packet: bytes | None, text: str) -> bytes:
    """The packet (None: a new one) with `text` as its only AI-content object, in UTF-8.

    Raises:
        ValueError: the packet is no XMP that can be read.
    """
    document, rdf = _open(packet or _EMPTY.encode())
    for description in list(_descriptions(rdf)):
        _remove(description)
    element = document.createElementNS(NAMESPACE, f"{PREFIX}:{_ELEMENT}")
    element.appendChild(document.createTextNode(text))
    description = document.createElementNS(_RDF, "rdf:Description")
    description.setAttributeNS(_XMLNS, "xmlns:rdf", _RDF)
    description.setAttributeNS(_RDF, "rdf:about", _about(rdf))
    description.setAttributeNS(_XMLNS, f"xmlns:{PREFIX}", NAMESPACE)
    description.appendChild(element)
    rdf.appendChild(description)
    return "".join(node.toxml() for node in document.childNodes).encode()


def read_aigc(packet: bytes) -> str | None:
    """The text of the AI-content object, or None if the packet has none.

    Raises:
        ValueError: the packet is no XMP that can be read.
    """
    for description in _descriptions(_open(packet)[1]):
        if description.hasAttributeNS(NAMESPACE, _ELEMENT):
            return description.getAttributeNS(NAMESPACE, _ELEMENT)
        for element in _elements(description):
            return "".join(node.data for node in element.childNodes if isinstance(node, minidom.Text))
    return None


def _open(packet: bytes) -> tuple[minidom.Document, minidom.Element]:
    """The document and its RDF element."""
    wide = packet.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = packet.decode("utf-16" if wide else "utf-8-sig").strip("\0 \r\n\t")
        document = None if "<!DOCTYPE" in text else minidom.parseString(text)
    except (ExpatError, ValueError) as error:
        raise ValueError(f"it is no XML ({error})") from error
    if document is None:
        raise ValueError("XMP declares no document type")  # Entities could grow without bound.
    found = document.getElementsByTagNameNS(_RDF, "RDF")
    if not found:
        raise ValueError("it holds no RDF")
    return document, found[0]


def _descriptions(rdf: minidom.Element) -> Iterator[minidom.Element]:
    return (
        node
        for node in rdf.childNodes
        if isinstance(node, minidom.Element) and (node.namespaceURI, node.localName) == (_RDF, "Description")
    )


def _elements(description: minidom.Element) -> list[minidom.Element]:
    return [
        node
        for node in description.childNodes
        if isinstance(node, minidom.Element) and (node.namespaceURI, node.localName) == (NAMESPACE, _ELEMENT)
    ]


def _remove(description: minidom.Element) -> None:
    if description.hasAttributeNS(NAMESPACE, _ELEMENT):
        description.removeAttributeNS(NAMESPACE, _ELEMENT)
    for element in _elements(description):
        description.removeChild(element)


def _about(rdf: minidom.Element) -> str:
    """What the packet is about: all its descriptions have to say the same (XMP specification, part 1, 7.4)."""
    values = (node.getAttributeNS(_RDF, "about") for node in _descriptions(rdf))
    return next((value for value in values if value), "")
