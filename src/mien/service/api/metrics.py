"""What Prometheus is told: the API's own figures, and those of the queue, asked when they are scraped."""

from __future__ import annotations

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from mien.service.figures import ServiceCollector
from mien.service.records import PRIORITIES, TIERS
from mien.service.state import State

_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Of one API process."""

    def __init__(self, state: State) -> None:
        self._registry = CollectorRegistry()
        self._requests = Histogram(
            "mien_api_request_duration_seconds",
            "Time to the head of an answer.",
            ("method", "route", "status"),
            buckets=_BUCKETS_S,
            registry=self._registry,
        )
        self._uploaded = Counter("mien_api_uploaded_bytes", "Bytes of accepted uploads.", registry=self._registry)
        self._problems = Counter("mien_api_problems", "Refusals by kind.", ("kind",), registry=self._registry)
        self._webhooks = Counter("mien_webhook_tries", "Tries by outcome.", ("outcome",), registry=self._registry)
        self._registry.register(_Queue(state))
        self._registry.register(ServiceCollector(state))

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """An answer was begun."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def uploaded(self, size_bytes: int) -> None:
        """An upload was accepted."""
        self._uploaded.inc(size_bytes)

    def problem(self, kind: str) -> None:
        """A call was refused."""
        self._problems.labels(kind).inc()

    def webhook(self, outcome: str) -> None:
        """A webhook was tried."""
        self._webhooks.labels(outcome).inc()

    def expose(self) -> bytes:
        """The text format."""
        return generate_latest(self._registry)


class _Queue(Collector):
    """Figures that are the same for all API processes: they lie in Redis."""

    def __init__(self, state: State) -> None:
        self._state = state

    def describe(self) -> list[Metric]:
        """Nothing: asking for names must not ask Redis."""
        return []

    def collect(self) -> Iterator[Metric]:
        """What waits and what runs."""
        depth = GaugeMetricFamily("mien_queue_depth", "Tasks that wait.", labels=("tier", "priority"))
        age = GaugeMetricFamily("mien_queue_oldest_age_seconds", "Age of the oldest.", labels=("tier", "priority"))
        now_s = time.time()
        for tier in TIERS:
            heads = self._state.heads(tier)
            for priority in PRIORITIES:
                waiting = [head for head in heads if head.priority == priority]
                oldest_s = min((head.since_s for head in waiting), default=now_s)
                depth.add_metric((tier, priority), sum(head.waiting for head in waiting))
                age.add_metric((tier, priority), max(now_s - oldest_s, 0.0))
        yield depth
        yield age
        running = self._state.client.zcard(self._state.key("leases"))
        yield GaugeMetricFamily("mien_running_tasks", "Tasks that workers hold.", value=running)
        dead = self._state.client.zcard(self._state.key("dead"))
        yield GaugeMetricFamily("mien_dead_jobs", "Jobs that failed for good.", value=dead)
