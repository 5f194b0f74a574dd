"""Who may do what: keys, scopes, limits, and other people's things."""

from __future__ import annotations

import time

import httpx
import pytest

from mien.service.api.envelope import SAFE_HEADERS
from mien.service.keys import SCOPES, Limits, mint
from support.api import PORTRAIT, Api, Caller, bearer


def _problem(response: httpx.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == response.status_code
    return body["status"], body["type"].rpartition(":")[2]


@pytest.mark.parametrize(
    "header",
    [None, "Bearer", "Bearer mien_x", f"Bearer mien_{'0' * 12}_{'0' * 64}", "Basic bWllbjptaWVu", "Bearer \xff"],
)
def test_without_a_key_nothing_is_told(api: Api, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    response = httpx.get(f"{api.url}/v1/jobs", headers=headers)
    assert _problem(response) == (401, "unauthorised")
    assert response.headers["www-authenticate"] == "Bearer"


def test_the_secret_alone_decides(api: Api, caller: Caller) -> None:
    other = mint(caller.key.tenant, now_s=time.time()).token.rpartition("_")[2]
    forged = f"mien_{caller.key.id}_{other}"
    assert _problem(httpx.get(f"{api.url}/v1/jobs", headers=bearer(forged))) == (401, "unauthorised")
    assert caller.http.get("/v1/jobs").status_code == 200


def test_expired_and_revoked_keys_open_nothing(api: Api) -> None:
    expired = api.caller(valid_s=-1)
    assert "expired" in expired.http.get("/v1/jobs").json()["detail"]
    revoked = api.caller()
    assert revoked.http.get("/v1/jobs").status_code == 200
    api.front.keyring.revoke(revoked.key.id, time.time())
    assert _problem(revoked.http.get("/v1/jobs")) == (401, "unauthorised")
    assert "revoked" in revoked.http.get("/v1/jobs").json()["detail"]


def test_secrets_are_not_at_rest(api: Api, caller: Caller) -> None:
    secret = caller.minted.token.rpartition("_")[2]
    kept = str(api.front.state.client.hgetall(api.front.state.key("keys")))
    assert caller.key.id in kept
    assert secret not in kept


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        ("assets:read", "GET", "/v1/assets"),
        ("assets:write", "POST", "/v1/assets"),
        ("assets:write", "DELETE", "/v1/assets/x"),
        ("jobs:read", "GET", "/v1/jobs"),
        ("jobs:read", "GET", "/v1/jobs/x/result"),
        ("jobs:read", "GET", "/v1/jobs/x/events"),
        ("jobs:write", "POST", "/v1/jobs/x/cancel"),
        ("jobs:write", "DELETE", "/v1/jobs/x"),
        ("metrics:read", "GET", "/metrics"),
    ],
)
def test_a_key_permits_only_its_scopes(api: Api, scope: str, method: str, path: str) -> None:
    without = api.caller(scopes=[one for one in SCOPES if one != scope])
    assert _problem(without.http.request(method, path)) == (403, "forbidden")
    only = api.caller(scopes=[scope])
    assert only.http.request(method, path).status_code not in (401, 403)


def test_what_belongs_to_another_tenant_is_not_there(api: Api, caller: Caller) -> None:
    job = caller.job()["id"]
    api.finish(job, b"picture", {0: b"small"})
    asset = caller.made["source"]
    stranger = api.caller()
    paths = [
        ("GET", f"/v1/assets/{asset}"),
        ("DELETE", f"/v1/assets/{asset}"),
        ("GET", f"/v1/jobs/{job}"),
        ("GET", f"/v1/jobs/{job}/events"),
        ("GET", f"/v1/jobs/{job}/result"),
        ("GET", f"/v1/jobs/{job}/preview"),
        ("GET", f"/v1/jobs/{job}/flagged/0"),
        ("POST", f"/v1/jobs/{job}/cancel"),
        ("POST", f"/v1/jobs/{job}/retry"),
        ("DELETE", f"/v1/jobs/{job}"),
    ]
    for method, path in paths:
        assert _problem(stranger.http.request(method, path)) == (404, "not_found"), path
    assert _problem(stranger.http.post(f"/v1/jobs/{job}/links", json={})) == (404, "not_found")
    own = stranger.upload(PORTRAIT)["id"]
    for recipe in ({"target": asset, "sources": [own]}, {"target": own, "sources": [asset]}):
        for path in ("/v1/jobs", "/v1/estimates"):
            assert _problem(stranger.http.post(path, json={"recipe": recipe})) == (404, "not_found")
    assert stranger.http.get("/v1/jobs").json() == {"jobs": []}
    assert [one["id"] for one in stranger.http.get("/v1/assets").json()["assets"]] == [own]
    assert caller.http.get(f"/v1/jobs/{job}").json()["state"] == "done"
    # A second key of the same tenant sees it all.
    colleague = api.caller(caller.key.tenant)
    assert colleague.http.get(f"/v1/jobs/{job}").status_code == 200


def test_too_many_calls_are_told_when_to_come_back(api: Api) -> None:
    hasty = api.caller(limits=Limits(requests_per_minute=2, burst=2))
    assert [hasty.http.get("/v1/jobs").status_code for _ in range(3)] == [200, 200, 429]
    response = hasty.http.get("/v1/jobs")
    assert _problem(response) == (429, "rate")
    assert 1 <= int(response.headers["retry-after"]) <= 30


def test_every_answer_is_safe_and_can_be_traced(caller: Caller) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    for response in (
        caller.http.get("/v1/jobs", headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}),
        caller.http.get("/nothing/here"),
        caller.http.put("/v1/jobs"),
        caller.http.post("/v1/jobs", content=b"{", headers={"content-type": "application/json"}),
    ):
        for name, value in SAFE_HEADERS.items():
            assert response.headers[name] == value
        assert len(response.headers["trace-id"]) == 32
        assert "server" not in response.headers
    assert (
        caller.http.get("/v1/jobs", headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}).headers["trace-id"]
        == trace
    )


def test_a_request_may_not_be_endless(caller: Caller) -> None:
    assert _problem(caller.http.post("/v1/jobs", content=b" " * 1_000_001)) == (413, "too_large")

    def pieces():
        for _ in range(20):
            yield b" " * 100_000

    assert _problem(caller.http.post("/v1/jobs", content=pieces())) == (413, "too_large")


def test_metrics_are_prometheus_with_units(api: Api) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    watcher = api.caller(scopes=["metrics:read"])
    assert watcher.http.get("/v1/jobs/job_x").status_code == 403
    families = {one.name: one for one in text_string_to_metric_families(watcher.http.get("/metrics").text)}
    for name in (
        "mien_api_request_duration_seconds",
        "mien_queue_depth",
        "mien_queue_oldest_age_seconds",
        "mien_running_tasks",
        "mien_api_uploaded_bytes",
        "mien_api_problems",
    ):
        assert families[name].documentation
    counted = {sample.labels.get("kind"): sample.value for sample in families["mien_api_problems"].samples}
    assert counted["forbidden"] >= 1
    routes = {sample.labels.get("route") for sample in families["mien_api_request_duration_seconds"].samples}
    assert "/v1/jobs/{job}" in routes
    assert not any("job_" in str(route) for route in routes)


def test_health_needs_no_key(api: Api) -> None:
    assert httpx.get(f"{api.url}/healthz").json() == {"status": "ok"}
    for _ in range(600):
        response = httpx.get(f"{api.url}/readyz")
        if response.status_code == 200:
            return
        assert _problem(response) == (503, "unavailable")
        time.sleep(0.1)
    pytest.fail("it never gets ready")
