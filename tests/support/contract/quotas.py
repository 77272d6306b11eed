"""A project's own quotas, and the error of one that is used up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from openai import RateLimitError

from tests.support.contract.service import Service


@contextmanager
def quota(service: Service, **columns: int) -> Iterator[None]:
    """Sets a project's own quotas, as an operator does."""
    project_id = service.project_of(service.api.key)
    for column, limit in columns.items():
        service.execute(f"UPDATE projects SET {column} = %s WHERE id = %s", limit, project_id)
    try:
        yield
    finally:
        for column in columns:
            service.execute(f"UPDATE projects SET {column} = NULL WHERE id = %s", project_id)


def refused(call: Callable[[], Any], name: str) -> None:
    with pytest.raises(RateLimitError) as raised:
        call()
    error: Any = raised.value.body
    assert (error["type"], error["code"]) == ("insufficient_quota", "insufficient_quota")
    assert f"reached its quota of {name} (" in error["message"]
    assert raised.value.response.headers["x-should-retry"] == "false"


def count(service: Service, table: str, condition: str = "true") -> int:
    """Counts the rows of the first project."""
    query = f"SELECT count(*) FROM {table} WHERE project_id = %s AND {condition}"
    return int(service.value(query, service.project_of(service.api.key)))
