"""OpenTelemetry traces, where the environment says where they go (`OTEL_EXPORTER_OTLP_ENDPOINT`); else nothing.

A request's span and those of the tasks of its job, wherever they run, belong to one trace: its id is in the job.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from mien.errors import InstallationError
from mien.installing import install_command

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

Describe = Callable[[str, Any], None]
"""Notes something of a span: its name and value."""


def check_traces() -> None:
    """Check before work that traces can be sent, if the environment asks for them.

    Raises:
        InstallationError: the extra is not installed.
    """
    _tracer()


@contextmanager
def span(name: str, trace: str, **facts: Any) -> Generator[Describe]:
    """Tell how long the block takes, as a part of a trace.

    Args:
        name: of what is done.
        trace: 32 hexadecimal digits; empty = of no trace, and nothing is told.
        **facts: of it.
    """
    tracer = _tracer() if trace else None
    if tracer is None:
        yield lambda _name, _value: None
        return
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    # All hang at one parent that nobody sends: who began the trace may not be known any more.
    parent = SpanContext(int(trace, 16), int(trace[16:], 16) or 1, is_remote=True, trace_flags=TraceFlags(1))
    context = set_span_in_context(NonRecordingSpan(parent))
    with tracer.start_as_current_span(name, context, attributes=facts) as found:
        yield found.set_attribute


@cache
def _tracer() -> Any | None:
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return None
    if find_spec("opentelemetry.exporter") is None or find_spec("opentelemetry.sdk") is None:
        raise InstallationError(f"traces are asked for, but need an extra: {install_command('mien[otel]')}")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", "mien")})
    provider = TracerProvider(resource=resource)  # What is left is sent when the process ends.
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer("mien")
