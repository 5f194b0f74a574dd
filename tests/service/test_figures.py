from collections.abc import Callable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from mien.pipeline.workshop import Workshop
from mien.recipe import Recipe
from mien.service.figures import ServiceCollector, of_networks
from mien.service.records import Failure, Result, WorkerId
from mien.service.rollout import Rollouts
from support.jobs import ASTRONAUT, HOPPER
from support.service import Place


def exposed(place: Place) -> Callable[..., float | None]:
    """Values by name and labels."""
    registry = CollectorRegistry()
    registry.register(ServiceCollector(place.state))
    families = text_string_to_metric_families(generate_latest(registry).decode())
    samples = [sample for family in families for sample in family.samples]
    values = {(sample.name, *sorted(sample.labels.items())): sample.value for sample in samples}
    return lambda name, **labels: values.get((name, *sorted(labels.items())))


def test_what_has_ended_is_counted_once(place: Place) -> None:
    recipe = {"target": "asset:a", "output": "out.jpg"}
    done, refused = place.submit(recipe), place.submit(recipe)
    for grant in (place.take(), place.take()):
        if grant.job == done:
            totals = {"frames": 7, "media_seconds": 0.5, "cost": 0.25}
            place.state.complete(grant, Result("k", "out.jpg", 1, "image/jpeg"), frames=7, busy_s=2.0, totals=totals)
        else:
            place.state.fail(grant, Failure("NoFaceError", "none"), "refused", busy_s=1.0)
    place.state.delete(done)
    place.state.delete(refused)
    value = exposed(place)
    assert value("mien_jobs_total", tier="batch", channel="stable", state="done") == 1
    assert value("mien_jobs_total", tier="batch", channel="stable", state="failed") == 1
    assert value("mien_jobs_total", tier="batch", channel="stable", state="cancelled") is None
    assert value("mien_failed_tries_total", kind="NoFaceError") == 1
    assert value("mien_busy_seconds_total", tier="batch") == 3.0
    assert value("mien_frames_total", tier="batch") == 7
    assert value("mien_cost_total", tier="batch") == 0.25


def test_workers_tell_of_their_networks(place: Place) -> None:
    workshop = Workshop()
    recipe = {"sources": [ASTRONAUT], "target": HOPPER, "output": "out.png", "upscale": 2}
    networks = workshop.networks(Recipe.from_mapping(recipe))
    about = of_networks([workshop])
    workshop.close()
    (name,) = about["networks"]
    assert name.startswith("span_x2")
    assert networks.upscaler is not None
    assert about["memory_bytes"] > 0
    place.state.sign_on(WorkerId("w"), {"tier": "batch", "ready": True, "slots": 2, **about}, lease_s=60)
    value = exposed(place)
    assert value("mien_worker_ready", worker="w", tier="batch") == 1
    assert value("mien_worker_memory_bytes", worker="w", tier="batch") == about["memory_bytes"]
    assert value("mien_network_batches", worker="w", network=name) == 1  # It was asked how much it enlarges.
    assert value("mien_network_held_bytes", worker="w", network=name) == about["networks"][name]["held_bytes"]


def test_rollouts_are_seen(place: Place) -> None:
    Rollouts(place.state).set("swapper", stable="old", canary="new", share=0.25)
    value = exposed(place)
    assert value("mien_rollout_share", role="swapper", network="new") == 0.25
    assert value("mien_rollout_breaker_open", role="swapper") == 0
