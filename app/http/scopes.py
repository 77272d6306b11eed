"""Says which scope of a project's key each route needs, of the API and of the dashboard.

What a row of `_ROUTES` does not say follows from the noun: `read` reads, `admin` deletes, and
the noun's own scope does everything else. A route without a noun fails at the start.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from starlette.routing import compile_path

from app.http.requests import register_path_texts
from app.kit.callers import Principal, Scope, Tenant
from app.kit.errors import PermissionDenied

_OF_NO_PROJECT: Final = (
    *("/v1/organization", "/v1/openapi.json", "/openapi.json", "/healthz", "/readyz", "/metrics"),
    *("/projects", "/admin-keys", "/sign-in", "/sign-out", "/assets", "/docs"),
)
_TRAINING: Final = (
    *("/v1/fine_tuning", "/v1/files", "/v1/uploads", "/v1/tools", "/v1/graders"),
    *("/v1/environments", "/v1/curricula", "/v1/improvement_plans", "/v1/recipes", "/v1/models"),
    *("/v1/evals", "/v1/students", "/v1/coach_sessions"),
    *("/jobs", "/endpoints", "/files", "/evals", "/usage", "/teach"),
)
_NOUNS: Final[Mapping[str, Scope | None]] = {
    **dict.fromkeys(_OF_NO_PROJECT),
    **dict.fromkeys(_TRAINING, "train"),
    **dict.fromkeys(("/", "/v1/chat", "/v1/feedback", "/models"), "serve"),
    **dict.fromkeys(("/v1/webhook_endpoints", "/v1/webhook_event_types"), "admin"),
    **dict.fromkeys(("/v1/signing_secret", "/webhooks"), "admin"),
}
_ROUTES: Final[Mapping[str, Scope]] = {
    "GET /v1/signing_secret": "admin",
    # Weights leave the service.
    "GET /v1/models/{model:text}/adapter": "admin",
    "POST /v1/models/{model:text}/exports": "admin",
    "GET /v1/models/{model:text}/exports/{export_id}/content": "admin",
    # Another project gets a model.
    "POST /v1/fine_tuning/checkpoints/{model:text}/permissions": "admin",
    "POST /v1/feedback/builds": "train",
    "POST /v1/students/{name}/chat": "serve",
    "POST /teach/students/{name}/chat": "serve",
    "POST /teach/students/{name}/feedback": "serve",
}
register_path_texts()
_COMPILED: Final = [
    (method, compile_path(path)[0], scope)
    for (method, path), scope in ((row.split(" "), scope) for row, scope in _ROUTES.items())
]


def check_scope(principal: Principal, method: str, path: str) -> None:
    """Raises `PermissionDenied` unless the key has the scope; an admin key has its own routes."""
    if not isinstance(principal, Tenant):
        return
    needed = needed_scope(method, path)
    if needed is not None and needed not in principal.scopes:
        raise PermissionDenied(
            f"You have insufficient permissions for this operation. Missing scopes: {needed}.",
            code="missing_scope",
        )


def needed_scope(method: str, path: str) -> Scope | None:
    """Returns the scope for a request; `None` where no project's key is asked for."""
    for own_method, pattern, scope in _COMPILED:
        if method == own_method and pattern.match(path):
            return scope
    noun = _NOUNS.get(_noun(path), "admin")  # of an unknown path, which has no route
    if noun is None:
        return None
    match method:
        case "GET" | "HEAD":
            return "read"
        case "DELETE":
            return "admin"
        case _:
            return noun


def check_nouns(paths: Iterable[str]) -> None:
    """Raises `LookupError` for a path of a route whose noun has no scope."""
    for path in paths:
        if _noun(path) not in _NOUNS:
            raise LookupError(f"{path} has no scope: name its noun in {__name__}")


def _noun(path: str) -> str:
    return "/".join(path.split("/")[: 3 if path.startswith("/v1/") else 2])
