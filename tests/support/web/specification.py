"""Checks replies of a service against the specification that it publishes."""

from typing import Any

import httpx
from jsonschema_rs import Draft202012Validator

from tests.support.patience import PATIENCE_S

JSON = "application/json"
EVENTS = "text/event-stream"


class Specification:
    """The document that a service publishes under its base URL."""

    def __init__(self, base_url: str) -> None:
        self._document = httpx.get(f"{base_url}/openapi.json", timeout=PATIENCE_S).json()
        self._operations = {
            operation["operationId"]: operation
            for methods in self._document["paths"].values()
            for operation in methods.values()
        }

    def check(self, operation: str, reply: Any, *, kind: str = JSON) -> None:
        """Raises `ValidationError` unless the reply fits the operation's schema."""
        schema = self._operations[operation]["responses"]["200"]["content"][kind]["schema"]
        Draft202012Validator({**schema, **self._document}).validate(reply)
