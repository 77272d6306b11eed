"""From rows to what the trainer is given: tokens, and which of them are learned.

Promises: every learned token stands after exactly the tokens that the model sees when it is called
with the messages before it; tokens past the model's context are cut at the end of the row, as the
hosted API does, and a row of which nothing would be left to learn is refused with its line. Must
not know files, losses or batches.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from app.domain.data.chat_rows import DatasetError
from app.domain.errors import InvalidRequest
from app.domain.methods.supervised import TrainOn
from app.rendering.renderer import Renderer
from workers.learning.training_samples import TrainingSample
from workers.supervised.rows import TextRow, TextRows

Messages = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Example:
    samples: tuple[TrainingSample, ...]
    """Of one supervised row; of a pair, the chosen one and the rejected one."""
    cut: bool
    """Whether the row was longer than the model's context."""


Make = Callable[[TextRow], Example]
"""Raises `DatasetError`."""


class Examples:
    """Rendered when asked for: a file may hold more tokens than memory."""

    def __init__(self, rows: TextRows, make: Make) -> None:
        self._rows = rows
        self._make = make

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Example:
        return self._make(self._rows[index])

    def __iter__(self) -> Iterator[Example]:
        return (self[index] for index in range(len(self)))

    def count_cut(self) -> int:
        """Renders every row: the number of those that are cut. Raises `DatasetError`."""
        return sum(example.cut for example in self)


def supervised(renderer: Renderer, *, limit: int, train_on: TrainOn) -> Make:
    """`limit`: tokens that a row may hold."""

    def make(row: TextRow) -> Example:
        messages, tools = row.item["messages"], row.item.get("tools") or None
        learned = _learned_turns(messages, train_on)
        if not learned:
            raise DatasetError(
                row.line, f"/messages/{len(messages) - 1}/weight", "there is no answer to learn"
            )
        texts: list[_Text] = []
        longest = 0
        for turn in _turns(row, renderer, learned, tools, limit):
            longest = max(longest, len(turn.tokens))
            if any(turn.mask[:limit]):
                _add(texts, _Text(turn.tokens[:limit], turn.mask[:limit]))
        if not texts:
            raise _nothing_left(row, limit)
        samples = tuple(_sample(text.tokens, text.mask) for text in texts)
        return Example(samples, longest > limit)

    return make


def preference(renderer: Renderer, *, limit: int) -> Make:
    """`limit`: tokens that the input and one answer may hold together."""

    def make(row: TextRow) -> Example:
        given = row.item["input"]
        messages, tools = _without_weights(given["messages"]), given.get("tools") or None
        answers = [
            _turn(row, renderer, [*messages, *_without_weights(row.item[name])], tools)
            for name in ("preferred_output", "non_preferred_output")
        ]
        pair = [_sample(text.tokens[:limit], text.mask[:limit]) for text in answers]
        longest = max(len(text.tokens) for text in answers)
        if not all(sample.trained_tokens for sample in pair):
            raise _nothing_left(row, limit)
        if pair[0].tokens == pair[1].tokens:
            raise DatasetError(row.line, "", f"within {limit} tokens, both answers are the same")
        return Example(tuple(pair), longest > limit)

    return make


@dataclass(frozen=True, slots=True)
class _Text:
    tokens: list[int]
    mask: list[int]


def _learned_turns(messages: Messages, train_on: TrainOn) -> list[int]:
    """Places of the assistant messages that are learned: never the first message's, which answers
    nothing.
    """
    answers = [place for place, one in enumerate(messages) if one["role"] == "assistant"]
    wanted = answers[-1:] if train_on == "last" else answers
    return [place for place in wanted if place and messages[place].get("weight") != 0]


def _without_weights(messages: Messages) -> Messages:
    return [{name: v for name, v in one.items() if name != "weight"} for one in messages]


def _turn(
    row: TextRow, renderer: Renderer, messages: Messages, tools: list[dict[str, Any]] | None
) -> _Text:
    """The last message after what the model is shown before it writes it."""
    try:
        prompt = renderer.prompt_ids(messages[:-1], tools)
        answer = renderer.turn_ids(messages, tools)
    except InvalidRequest as error:
        raise DatasetError(row.line, "", error.message) from error
    return _Text([*prompt, *answer], [0] * len(prompt) + [1] * len(answer))


def _turns(
    row: TextRow,
    renderer: Renderer,
    learned: list[int],
    tools: list[dict[str, Any]] | None,
    limit: int,
) -> Iterator[_Text]:
    """Each learned turn, up to where no later one can be within `limit`: a row may hold thousands,
    and every turn is rendered with all that precedes it.
    """
    messages = _without_weights(row.item["messages"])
    asked = list(itertools.accumulate(one["role"] == "user" for one in messages))
    full: _Text | None = None
    full_at = 0
    for place in learned:
        # Past the limit a prompt gets shorter only where a template drops what was thought before
        # the last question.
        if full is not None and asked[place] == asked[full_at]:
            continue
        turn = _turn(row, renderer, messages[: place + 1], tools)
        yield turn
        if not any(turn.mask[:limit]):
            if full is not None and full.tokens[:limit] == turn.tokens[:limit]:
                return
            full, full_at = turn, place


def _add(texts: list[_Text], turn: _Text) -> None:
    """A turn that continues the text before it takes its place and learns what it learned; a
    template that rewrites earlier turns (e.g. drops their reasoning) leaves that one its own text.
    """
    before = texts[-1] if texts else None
    if before is not None and turn.tokens[: len(before.tokens)] == before.tokens:
        for place, learned in enumerate(before.mask):
            turn.mask[place] |= learned
        texts.pop()
    texts.append(turn)


def _sample(tokens: list[int], mask: list[int]) -> TrainingSample:
    """Weight 1 for each learned token."""
    return TrainingSample(tokens, mask, [0.0] * len(tokens), 1.0)


def _nothing_left(row: TextRow, limit: int) -> DatasetError:
    return DatasetError(
        row.line,
        "",
        f"its answer begins after the {limit} tokens that the model takes: there is nothing left "
        "to learn",
    )
