"""An answer is journalled before it is used, replayed with its types, and asked for once."""

from dataclasses import dataclass
from typing import Any, Final, Generic

import pytest
from pydantic import TypeAdapter, ValidationError
from typing_extensions import override

from app.rollouts.trajectory import Grade
from app.tools.tools import ToolOutcome
from tests.support.cases import cases
from tests.support.runs.journals import as_stored
from workers.journal import InMemoryJournal, T, replay_or_ask
from workers.rollout.episode import JournalledTurn

GRADES: Final = TypeAdapter(Grade)
ANSWERS = [
    JournalledTurn((1, 2), (-0.1, -1e-17), "stop", 3, elapsed_s=0.25),
    Grade(0.5, {"part": 1.0}, 0.1, {"": {"latency_s": 0.1}}),
    ToolOutcome("found \ufffd", None, 0.5, 2),
]


@dataclass
class Asked(Generic[T]):
    """Returns or raises one answer, and counts the calls."""

    answer: T | Exception
    times: int = 0

    async def __call__(self) -> T:
        self.times += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@cases("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
async def test_a_replay_returns_the_same_value_of_the_same_type(answer: Any) -> None:
    journal, asked = InMemoryJournal(), Asked(answer)
    codec = TypeAdapter(type(answer))
    first = await replay_or_ask(journal, "key", b"request", asked, codec=codec)
    again = await replay_or_ask(as_stored(journal), "key", b"request", asked, codec=codec)
    assert first is answer
    assert (again, type(again), asked.times) == (answer, type(answer), 1)


async def test_another_request_under_the_key_is_sent() -> None:
    journal, asked = InMemoryJournal(), Asked(Grade(0.5))
    for request in (b"one", b"two", b"two"):
        await replay_or_ask(journal, "key", request, asked, codec=GRADES)
    assert asked.times == 2


async def test_an_exception_is_not_journalled() -> None:
    journal, asked = InMemoryJournal(), Asked[Grade](TimeoutError())
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await replay_or_ask(journal, "key", b"request", asked, codec=GRADES)
    assert (asked.times, journal.entries) == (2, {})


async def test_an_answer_is_durable_before_it_is_used() -> None:
    class Unreachable(InMemoryJournal):
        @override
        async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
            raise ConnectionError

    with pytest.raises(ConnectionError):
        await replay_or_ask(Unreachable(), "key", b"request", Asked(Grade(0.5)), codec=GRADES)


async def test_a_payload_of_another_shape_is_an_error() -> None:
    journal = InMemoryJournal()
    outcome = ToolOutcome("found", None, 0.5, 2)
    await replay_or_ask(journal, "key", b"request", Asked(outcome), codec=TypeAdapter(ToolOutcome))
    with pytest.raises(ValidationError):
        await replay_or_ask(journal, "key", b"request", Asked(Grade(0.5)), codec=GRADES)


async def test_the_stored_form_is_that_of_earlier_releases() -> None:
    """The stored form is flat, with lists for tuples, as it was before turns had a codec."""
    journal = InMemoryJournal()
    turn = JournalledTurn((1, 2), (-0.1, -1e-17), "stop", 3, elapsed_s=0.25)
    codec = TypeAdapter(JournalledTurn)
    await replay_or_ask(journal, "key", b"request", Asked(turn), codec=codec)
    ((sha256, payload),) = as_stored(journal).entries.values()
    assert payload == {
        "token_ids": [1, 2],
        "logprobs": [-0.1, -1e-17],
        "finish_reason": "stop",
        "policy_version": 3,
        "elapsed_s": 0.25,
    }
    assert len(sha256) == 64


@cases("score", [float("nan"), float("inf")])
async def test_the_journal_in_memory_refuses_a_number_that_postgres_refuses(score: float) -> None:
    journal = InMemoryJournal()
    with pytest.raises(ValueError, match="not JSON compliant"):
        await replay_or_ask(journal, "key", b"request", Asked(Grade(score)), codec=GRADES)
    assert journal.entries == {}
