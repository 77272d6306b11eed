"""Two threads parse Python at the same time; each gives way in the middle of its tree."""

import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.kit.texts import expression_of, module_of
from tests.support.patience import PATIENCE_S

_DEEP = "-" * 40 + "1 + f(" + ",".join(f"{n} + {n}" for n in range(2_000)) + ")"
_ROUNDS = 2


@pytest.fixture
def collections() -> Iterator[list[str]]:
    """Lets the collector run often, and another thread go on each time: it runs Python code within
    `ast.parse`.
    """
    seen: list[str] = []

    def give_way(phase: str, _info: dict[str, int]) -> None:
        seen.append(phase)
        time.sleep(0.001)

    before = gc.get_threshold()
    gc.set_threshold(100)
    gc.callbacks.append(give_way)
    yield seen
    gc.callbacks.remove(give_way)
    gc.set_threshold(*before)


def _modules() -> list[str]:
    return [type(module_of(f"x = {_DEEP}")).__name__ for _ in range(_ROUNDS)]


def _expressions() -> list[str]:
    return [type(expression_of(_DEEP)).__name__ for _ in range(_ROUNDS)]


def test_two_threads_that_parse_do_not_spoil_each_others_count(collections: list[str]) -> None:
    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(_modules), threads.submit(_expressions)]
        names = [parsed.result(PATIENCE_S) for parsed in both]
    assert names == [["Module"] * _ROUNDS, ["Expression"] * _ROUNDS]
    assert len(collections) > _ROUNDS, "the collector did not run, so no thread gave way"
