"""Traces, as a collector receives them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

import pytest

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PROGRAM = f"""
from mien.service.spans import check_traces, span
check_traces()
with span("task", {TRACE!r}, job="job_1") as describe:
    describe("counted", True)
with span("nothing", ""):
    pass
"""


def _run(**environment: str) -> subprocess.CompletedProcess[str]:
    everything = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=everything, capture_output=True, text=True, check=False)


def test_a_collector_gets_the_spans_of_a_trace() -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    got: Queue[tuple[str, bytes]] = Queue()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.put((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        done = _run(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()
    assert done.returncode == 0, done.stderr
    path, body = got.get(timeout=1)
    assert path == "/v1/traces"
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    (found,) = resource.scope_spans[0].spans
    assert (found.name, found.trace_id.hex()) == ("task", TRACE)
    assert {one.key for one in found.attributes} == {"job", "counted"}


def test_without_a_collector_nothing_is_loaded() -> None:
    from mien.service.spans import span

    with span("task", TRACE) as describe:
        describe("counted", True)
    done = _run(OTEL_EXPORTER_OTLP_ENDPOINT="", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
def test_what_is_missing_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from mien.errors import InstallationError
    from mien.service import spans

    monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setattr(spans, "find_spec", lambda _name: None)
    spans._tracer.cache_clear()
    try:
        with pytest.raises(InstallationError, match=r"mien\[otel\]"):
            spans.check_traces()
    finally:
        spans._tracer.cache_clear()
