"""What workers say of themselves with every beat, and what Prometheus is told of workers, jobs and rollouts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from mien.engine.memory import process_meter
from mien.pipeline.workshop import Workshop
from mien.service.rollout import Rollouts
from mien.service.state import State

_TOTALS = {
    "jobs": ("Jobs that have ended.", ("tier", "channel", "state")),
    "failed_tries": ("Tries that failed, by the kind of error.", ("kind",)),
    "busy_seconds": ("Seconds that slots worked.", ("tier",)),
    "frames": ("Frames of finished jobs.", ("tier",)),
    "media_seconds": ("Duration of finished videos.", ("tier",)),
    "cost": ("Price of finished jobs, in the currency of the price an hour.", ("tier",)),
}
_OF_WORKERS = {
    "slots": "Tasks that it runs side by side at most.",
    "running_tasks": "Tasks that it runs.",
    "memory_bytes": "Resident memory.",
    "budget_bytes": "The most that networks may hold.",
    "evictions": "Networks that had to leave for others since it began.",
}
_OF_NETWORKS = {
    "held_bytes": "Memory that a loaded network holds.",
    "batches": "Batches that it ran since the worker began.",
    "batch_items": "Items in them.",
    "wait_p95_seconds": "Time between a request and its batch, of the latest requests.",
}


def of_networks(workshops: Iterable[Workshop]) -> dict[str, Any]:
    """Memory and batches of the networks of a process, as plain data."""
    networks: dict[str, dict[str, float]] = {}
    budget_bytes = evictions = 0
    for pool in [pool for workshop in workshops for pool in workshop.pools]:
        residency = pool.residency
        budget_bytes += residency.budget_bytes
        evictions += sum(event.kind == "evicted" for event in residency.events)
        for key, batches in pool.figures.items():
            networks[key] = {
                "held_bytes": 0,
                "batches": batches.batches,
                "batch_items": batches.items,
                "wait_p95_seconds": batches.p95_wait_s,
            }
        for resident in residency.residents:
            networks.setdefault(resident.key, {})["held_bytes"] = resident.held_bytes
    meter = process_meter()
    memory_bytes = meter.used_bytes() if meter else 0
    return {
        "memory_bytes": memory_bytes,
        "budget_bytes": budget_bytes,
        "evictions": evictions,
        "networks": networks,
    }


class ServiceCollector(Collector):
    """Figures that lie in Redis: the same whoever is asked."""

    def __init__(self, state: State) -> None:
        self._state = state

    def describe(self) -> list[Metric]:
        """Nothing: asking for names must not ask Redis."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Totals of jobs, workers by id, rollouts by role."""
        yield from self._totals()
        yield from self._workers()
        yield from self._rollouts()

    def _totals(self) -> Iterator[Metric]:
        counts = self._state.counts()
        for name, (words, labels) in _TOTALS.items():
            family = CounterMetricFamily(f"mien_{name}", words, labels=labels)
            for (kind, *values), amount in counts.items():
                if kind == name:
                    family.add_metric(values, amount)
            yield family

    def _workers(self) -> Iterator[Metric]:
        workers = self._state.workers()
        ready = GaugeMetricFamily("mien_worker_ready", "1 once its networks are warm.", labels=("worker", "tier"))
        for worker, about in workers.items():
            ready.add_metric((worker, about["tier"]), float(about["ready"]))
        yield ready
        for name, words in _OF_WORKERS.items():
            family = GaugeMetricFamily(f"mien_worker_{name}", words, labels=("worker", "tier"))
            for worker, about in workers.items():
                family.add_metric((worker, about["tier"]), about.get(name, 0))
            yield family
        for name, words in _OF_NETWORKS.items():
            family = GaugeMetricFamily(f"mien_network_{name}", words, labels=("worker", "network"))
            for worker, about in workers.items():
                for network, figures in cast(Mapping[str, Mapping[str, float]], about.get("networks", {})).items():
                    family.add_metric((worker, network), figures.get(name, 0))
            yield family

    def _rollouts(self) -> Iterator[Metric]:
        share = GaugeMetricFamily("mien_rollout_share", "Of the jobs.", labels=("role", "network"))
        is_open = GaugeMetricFamily("mien_rollout_breaker_open", "1 while the canary gets no jobs.", labels=("role",))
        for role, rollout in Rollouts(self._state).all().items():
            if rollout.canary is not None:
                share.add_metric((role, rollout.canary), rollout.share)
                is_open.add_metric((role,), float(rollout.breaker.state == "open"))
        yield share
        yield is_open
