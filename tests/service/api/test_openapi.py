"""Every operation of the OpenAPI document, called with what schemathesis makes of it."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mien.service.api.app import openapi_document
from mien.service.keys import SCOPES, Limits
from support.api import STREET, Api, Caller, bearer

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
DOCUMENT = openapi_document()
JPEG = STREET.read_bytes()
OPERATIONS = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods]


@pytest.fixture(scope="session")
def token(api: Api) -> str:
    return api.caller(scopes=SCOPES, limits=Limits(requests_per_minute=100_000, burst=100_000)).minted.token


def _calls() -> list[Any]:
    """Path, method, and whether what is sent keeps to the document; some operations take nothing that could not."""
    calls: list[Any] = []
    for path, method in OPERATIONS:
        operation = DOCUMENT["paths"][path][method]
        takes = "parameters" in operation or "requestBody" in operation
        for good in (True, False) if takes else (True,):
            name = f"{method} {path} {'right' if good else 'wrong'}"
            calls.append(pytest.param(path, method, good, id=name))
    return calls


@pytest.mark.parametrize(("path", "method", "good"), _calls())
def test_any_call_is_answered_as_the_document_says(api: Api, token: str, path: str, method: str, good: bool) -> None:
    operation = schemathesis.openapi.from_dict(DOCUMENT)[path][method]
    mode = schemathesis.GenerationMode.POSITIVE if good else schemathesis.GenerationMode.NEGATIVE

    @settings(max_examples=8, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def call(case: schemathesis.Case) -> None:
        case.call_and_validate(base_url=api.url, headers=bearer(token), checks=CHECKS)

    call()


@pytest.mark.parametrize(
    ("path", "method"),
    [pytest.param(path, method, id=f"{method} {path}") for path, method in OPERATIONS if "{" in path],
)
def test_what_is_told_of_real_things_is_as_the_document_says(api: Api, caller: Caller, path: str, method: str) -> None:
    job = caller.job()["id"]
    api.finish(job, JPEG, {3: JPEG})
    known = {"job": job, "asset": caller.made["source"], "frame": 3}
    operation = schemathesis.openapi.from_dict(DOCUMENT)[path][method]

    @settings(max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE))
    def call(case: schemathesis.Case) -> None:
        case.path_parameters = {name: known[name] for name in case.path_parameters}
        case.call_and_validate(base_url=api.url, headers=bearer(caller.minted.token), checks=CHECKS)

    call()


def test_the_document_names_the_problems_and_shows_examples() -> None:
    assert {"Problem", "Job", "Asset", "Recipe"} <= DOCUMENT["components"]["schemas"].keys()
    assert DOCUMENT["components"]["schemas"]["JobRequest"]["example"]["recipe"]["faces"] == "largest"
    for path, method in OPERATIONS:
        answers: dict[str, Any] = DOCUMENT["paths"][path][method]["responses"]
        for status, answer in answers.items():
            if int(status) >= 400:
                assert list(answer["content"]) == ["application/problem+json"], (path, status)
