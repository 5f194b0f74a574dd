"""A web server of this machine that serves files, with ranges, and misbehaves as it is told."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Mirror:
    """What is served, and how. The lists are used up, one element a request; then all goes well."""

    files: dict[str, bytes]
    url: str = ""
    ranges: bool = True
    told_length: bool = True
    statuses: list[int] = field(default_factory=list)
    """Answered instead of the file; 0: the file."""
    cuts: list[int] = field(default_factory=list)
    """The connection ends after so many bytes of the body."""
    redirects: dict[str, str] = field(default_factory=dict)
    """From a path to a URL."""
    extra: bytes = b""
    """Claimed and sent after the file."""
    delay: threading.Event | None = None
    """The body waits for it."""
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Path and headers."""

    @property
    def asked_ranges(self) -> list[str | None]:
        return [headers.get("Range") for _, headers in self.requests]


@contextmanager
def serve(files: dict[str, bytes]) -> Generator[Mirror]:
    """Serve files by path, such as `/net.onnx`."""
    mirror = Mirror(files)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.close_connection = True
            mirror.requests.append((self.path, dict(self.headers)))
            if mirror.statuses and (status := mirror.statuses.pop(0)):
                self.send_error(status)
            elif self.path in mirror.redirects:
                self.send_response(302)
                self.send_header("Location", mirror.redirects[self.path])
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif self.path in mirror.files:
                self._send(mirror.files[self.path] + mirror.extra)
            else:
                self.send_error(404)

        def _send(self, content: bytes) -> None:
            first = 0
            asked = self.headers.get("Range")
            if asked and mirror.ranges:
                first = int(asked.removeprefix("bytes=").rstrip("-"))
                if first >= len(content):
                    self.send_error(416)
                    return
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
            else:
                self.send_response(200)
            if mirror.told_length:
                self.send_header("Content-Length", str(len(content) - first))
            self.end_headers()
            if mirror.delay:
                mirror.delay.wait(10)
            end = first + mirror.cuts.pop(0) if mirror.cuts else len(content)
            with suppress(ConnectionError):  # Whoever asked may have heard enough.
                self.wfile.write(content[first:end])

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    mirror.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield mirror
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
