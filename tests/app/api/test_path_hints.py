from collections.abc import Iterator
from typing import Any

import pytest
from starlette.routing import BaseRoute, Mount, Route
from typing_extensions import override

from app.http.error_replies import PathHints


async def _endpoint(_: Any) -> None:
    raise AssertionError


class CountedRoutes(list[BaseRoute]):
    reads = 0

    @override
    def __iter__(self) -> Iterator[BaseRoute]:
        self.reads += 1
        return super().__iter__()


@pytest.fixture
def routes() -> CountedRoutes:
    return CountedRoutes(
        [
            Mount("/static", routes=[]),
            Route("/v1/jobs/{job_id}", _endpoint, methods=["POST"]),
            Route("/v1/alpha/graders/run", _endpoint, methods=["POST"]),
            Route("/v1/beta/graders/run", _endpoint, methods=["POST"]),
            Route("/v1/beta/tools/run", _endpoint, methods=["POST"]),
        ]
    )


def test_the_routes_are_read_once(routes: CountedRoutes) -> None:
    hints = PathHints(routes)
    assert routes.reads == 0
    for path in ("/v1/graders/run", "/v1/jobs/job_1", "/v1/tools/run", "/v1/nothing"):
        hints.alike("POST", path)
        hints.unserved("POST", path)
    assert routes.reads == 1


def test_a_route_added_before_the_first_question_is_known(routes: CountedRoutes) -> None:
    hints = PathHints(routes)
    routes.append(Route("/v1/alpha/evals", _endpoint))
    assert hints.unserved("GET", "/v1/evals") == ". Did you mean GET /v1/alpha/evals?"


@pytest.mark.parametrize(
    ("method", "path", "hint"),
    [
        ("POST", "/v1/tools/run", ". Did you mean POST /v1/beta/tools/run?"),
        ("POST", "/graders/run/", ". Did you mean POST /v1/alpha/graders/run?"),
        ("GET", "/v1/tools/run", ""),
        ("POST", "/v1/beta/graders/run", ""),
        ("POST", "/v1/other/run", ""),
        ("POST", "/v1/ools/run", ""),
        ("POST", "/v1/{job_id}", ""),
        ("POST", "/v1/", ""),
        ("POST", "/", ""),
    ],
)
def test_a_path_that_ends_alike_is_named(
    routes: CountedRoutes, method: str, path: str, hint: str
) -> None:
    assert PathHints(routes).alike(method, path) == hint
