"""Suggests the path to call instead of one that is not served.

Promises: an application's routes are read once, for the first hint; each later hint is one look-up.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from fastapi import APIRouter
from starlette.routing import BaseRoute, Route

_NOT_SERVED: Final = {"responses": "Responses API", "completions": "legacy Completions API"}


class PathHints:
    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        """`routes`: the application's routes, to which it may add until its first request."""
        self._routes = routes

    def unserved(self, method: str, path: str) -> str:
        """Returns the hint for a path without a route: another API, or a path that ends alike."""
        parts = path.strip("/").split("/")
        missing = _NOT_SERVED.get(parts[1]) if len(parts) > 1 and parts[0] == "v1" else None
        if missing is None:
            return self.alike(method, path)
        return f": this service has no {missing}; use POST /v1/chat/completions."

    def alike(self, method: str, path: str) -> str:
        """Returns a hint with the served path that has the same end, e.g. for `/v1/graders/run`.
        Empty when there is none, and when `path` itself is served.
        """
        called = path.strip("/")
        end = called.removeprefix("v1/").removeprefix("fine_tuning/")
        same_word = self._by_last_word.get((method, _last_word(end)), ())
        served = [each for each in same_word if each.endswith(f"/{end}")]
        if not served or f"/{called}" in served:
            return ""
        return f". Did you mean {method} {served[0]}?"

    @cached_property
    def _by_last_word(self) -> dict[tuple[str, str], list[str]]:
        """The served paths by method and last word. A path that ends with a parameter or a slash
        has no such word.
        """
        paths: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for route in _with_path(self._routes):
            word = _last_word(route.path)
            if word and not word.startswith("{"):
                for method in route.methods or ():
                    paths[method, word].append(route.path)
        return dict(paths)


def _with_path(routes: Iterable[BaseRoute]) -> Iterator[Route]:
    """Yields the routes that have a path; an included router keeps its own.

    FastAPI's `iter_route_contexts` yields them, too, but first resolves the dependencies of all
    routes, which holds the event loop for half a second.
    """
    for route in routes:
        included = getattr(route, "original_router", None)
        if isinstance(route, Route):
            yield route
        elif isinstance(included, APIRouter):
            yield from _with_path(included.routes)


def _last_word(path: str) -> str:
    return path.rpartition("/")[2]
