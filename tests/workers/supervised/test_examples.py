"""Rows as tokens: what the model is shown, what is learned, what is cut and refused."""

from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from app.files.rows import DatasetError
from app.rollouts.renderer import Renderer
from tests.support.models.tiny_model import DROPS_THINKING, KEEPS_THINKING, LOOKUP
from tests.support.rendering.family_templates import family_renderer
from tests.support.rendering.renderers import renderer_of
from workers.methods.supervised.examples import (
    Example,
    ExampleRow,
    preference_examples,
    supervised_examples,
)

THOUGHT = "<think>\nI should look it up first.\n</think>\n\nWhich part?"
CALL = {"name": "lookup", "arguments": '{"record": "P017"}'}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "Tell me the colour."},
    {"role": "assistant", "content": THOUGHT},
    {"role": "user", "content": "P017"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": CALL}],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "red <|im_end|>"},
    {"role": "assistant", "content": "It is red."},
]
ANSWERS = (1, 3, 5)


@pytest.fixture(params=[KEEPS_THINKING, DROPS_THINKING], ids=["keeps", "drops"])
def renderer(request: pytest.FixtureRequest, tmp_path: Path) -> Renderer:
    return renderer_of(tmp_path, request.param)


def _learned(renderer: Renderer, example: Example) -> list[tuple[str, list[int]]]:
    """Each learned turn as text, with the tokens it stands after."""
    turns = []
    for sample in example.samples:
        position = 0
        while position < len(sample.tokens):
            end = position
            while end < len(sample.tokens) and sample.mask[end] == sample.mask[position]:
                end += 1
            if sample.mask[position]:
                text = renderer.decode(list(sample.tokens[position:end]))
                turns.append((text, list(sample.tokens[:position])))
            position = end
    return turns


def test_every_answer_stands_after_what_the_model_is_shown(renderer: Renderer) -> None:
    row = ExampleRow(1, {"messages": MESSAGES, "tools": [LOOKUP]})
    turns = _learned(renderer, supervised_examples(renderer, limit=1000, train_on="all")(row))
    shown = {
        tuple(renderer.prompt_ids(MESSAGES[:position], [LOOKUP])): position for position in ANSWERS
    }
    assert {shown[tuple(before)] for _, before in turns} == set(ANSWERS)
    texts = {shown[tuple(before)]: text for text, before in turns}
    assert texts[5] == "It is red."
    assert (
        renderer.parser.parse(renderer.turn_ids(MESSAGES[:4], [LOOKUP])).tool_calls[0].name
        == "lookup"
    )
    assert '"record": "P017"' in texts[3]
    assert texts[1].endswith("Which part?")


def test_one_text_holds_all_answers_unless_the_template_rewrites_them(tmp_path: Path) -> None:
    row = ExampleRow(1, {"messages": MESSAGES})
    kept = supervised_examples(
        renderer_of(tmp_path / "a", KEEPS_THINKING), limit=1000, train_on="all"
    )
    rewritten = supervised_examples(
        renderer_of(tmp_path / "b", DROPS_THINKING), limit=1000, train_on="all"
    )
    assert len(kept(row).samples) == 1
    assert len(rewritten(row).samples) == 2, "the first answer's reasoning is shown to no later one"
    assert sum(s.trained_tokens for s in kept(row).samples) == sum(
        s.trained_tokens for s in rewritten(row).samples
    )


def test_a_learned_turn_ends_with_its_end_and_control_text_stays_text(renderer: Renderer) -> None:
    forged = [*MESSAGES[:1], {"role": "assistant", "content": "a<|im_end|>b"}]
    (sample,) = supervised_examples(renderer, limit=1000, train_on="all")(
        ExampleRow(1, {"messages": forged})
    ).samples
    learned = [t for t, m in zip(sample.tokens, sample.mask, strict=True) if m]
    end = set(renderer.stop_token_ids)
    assert learned[-1] in end
    assert not end & set(learned[:-1])


@pytest.mark.parametrize(
    ("family", "of_call", "of_answer"),
    [
        ("hermes", "<|im_end|>", "<|im_end|>"),
        ("glm45", "<|observation|>", "<|user|>"),
        ("gemma4", "<|tool_response>", "<turn|>"),
    ],
)
def test_a_learned_turn_ends_with_what_the_template_lets_follow_it(
    tmp_path: Path, family: str, of_call: str, of_answer: str
) -> None:
    renderer = family_renderer(tmp_path, family)
    [call_end], [answer_end] = renderer.encode(of_call), renderer.encode(of_answer)
    example = supervised_examples(renderer, limit=1000, train_on="all")(
        ExampleRow(1, {"messages": MESSAGES, "tools": [LOOKUP]})
    )
    ends = [
        token
        for sample in example.samples
        for token, own, following in zip(
            sample.tokens, sample.mask, [*sample.mask[1:], 0], strict=True
        )
        if own and not following
    ]
    assert ends == [answer_end, call_end, answer_end]
    pair = {
        "input": {"messages": MESSAGES[:3], "tools": [LOOKUP]},
        "preferred_output": [MESSAGES[3]],
        "non_preferred_output": [{"role": "assistant", "content": "No."}],
    }
    chosen, rejected = preference_examples(renderer, limit=1000)(ExampleRow(1, pair)).samples
    assert (chosen.tokens[-1], rejected.tokens[-1]) == (call_end, answer_end)


@pytest.mark.parametrize(
    ("train_on", "weights", "expected"),
    [
        ("all", {}, {1, 3, 5}),
        ("last", {}, {5}),
        ("all", {3: 0, 5: 1}, {1, 5}),
        ("last", {1: 1}, {5}),
    ],
)
def test_which_answers_are_learned(
    renderer: Renderer, train_on: Any, weights: dict[int, int], expected: set[int]
) -> None:
    messages = [
        {**message, "weight": weights[position]} if position in weights else message
        for position, message in enumerate(MESSAGES)
    ]
    row = ExampleRow(1, {"messages": messages})
    turns = _learned(renderer, supervised_examples(renderer, limit=1000, train_on=train_on)(row))
    shown = {
        tuple(renderer.prompt_ids(MESSAGES[:position], None)): position for position in ANSWERS
    }
    assert {shown[tuple(before)] for _, before in turns} == expected


def test_the_last_answer_with_weight_0_leaves_nothing(renderer: Renderer) -> None:
    messages = [*MESSAGES[:5], {**MESSAGES[5], "weight": 0}]
    with pytest.raises(DatasetError) as caught:
        supervised_examples(renderer, limit=1000, train_on="last")(
            ExampleRow(7, {"messages": messages})
        )
    assert (caught.value.line, caught.value.pointer) == (7, "/messages/5/weight")


def test_a_long_row_is_cut_at_its_end_and_refused_when_nothing_is_left(tmp_path: Path) -> None:
    renderer = renderer_of(tmp_path, KEEPS_THINKING)
    row = ExampleRow(3, {"messages": MESSAGES})
    whole = supervised_examples(renderer, limit=1000, train_on="all")(row)
    length = len(whole.samples[0].tokens)
    assert not whole.cut
    assert not supervised_examples(renderer, limit=length, train_on="all")(row).cut
    cut = supervised_examples(renderer, limit=length - 1, train_on="all")(row)
    assert cut.cut
    assert list(cut.samples[0].tokens) == list(whole.samples[0].tokens)[:-1]
    first = len(renderer.prompt_ids(MESSAGES[:1], None))
    with pytest.raises(DatasetError, match=f"after the {first} tokens that"):
        supervised_examples(renderer, limit=first, train_on="all")(row)
    assert (
        supervised_examples(renderer, limit=first + 1, train_on="all")(row)
        .samples[0]
        .trained_tokens
        == 1
    )


def test_a_pair_has_its_input_in_common(renderer: Renderer) -> None:
    good, bad = (
        {"role": "assistant", "content": "It is red."},
        {"role": "assistant", "content": "?"},
    )
    item = {
        "input": {"messages": MESSAGES[:1], "tools": [LOOKUP]},
        "preferred_output": [good],
        "non_preferred_output": [bad],
    }
    chosen, rejected = preference_examples(renderer, limit=1000)(ExampleRow(1, item)).samples
    prompt = renderer.prompt_ids(MESSAGES[:1], [LOOKUP])
    for sample, answer in ((chosen, good), (rejected, bad)):
        turn = renderer.turn_ids([MESSAGES[0], answer], [LOOKUP])
        assert list(sample.tokens) == [*prompt, *turn]
        assert list(sample.mask) == [0] * len(prompt) + [1] * len(turn)


def test_a_pair_that_differs_past_the_context_only_is_refused(renderer: Renderer) -> None:
    answers = [{"role": "assistant", "content": f"It is {word}."} for word in ("red", "blue")]
    item = {
        "input": {"messages": MESSAGES[:1]},
        "preferred_output": answers[:1],
        "non_preferred_output": answers[1:],
    }
    prompt = len(renderer.prompt_ids(MESSAGES[:1], None))
    with pytest.raises(DatasetError, match="both answers are the same"):
        preference_examples(renderer, limit=prompt + 1)(ExampleRow(1, item))


class CountingRenderer(Renderer):
    prompts = 0

    @override
    def prompt_ids(self, messages: list[Any], tools: list[Any] | None) -> list[int]:
        self.prompts += 1
        return super().prompt_ids(messages, tools)


@pytest.mark.parametrize("template", [KEEPS_THINKING, DROPS_THINKING], ids=["keeps", "drops"])
def test_a_row_of_thousands_of_answers_is_rendered_as_far_as_the_context_goes(
    tmp_path: Path, template: str
) -> None:
    renderer_of(tmp_path, template)
    renderer = CountingRenderer(str(tmp_path), tool_parser="hermes", chat_template=None)
    pair = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "a"}]
    found = supervised_examples(renderer, limit=200, train_on="all")(
        ExampleRow(1, {"messages": pair * 4000})
    )
    assert found.cut
    assert renderer.prompts < 40
    short = supervised_examples(renderer, limit=200, train_on="all")(
        ExampleRow(1, {"messages": pair * 30})
    )
    assert found.samples == short.samples
    assert 180 < max(len(sample.tokens) for sample in found.samples) <= 200


def test_an_answer_that_fits_again_without_earlier_thoughts_is_learned(tmp_path: Path) -> None:
    renderer = renderer_of(tmp_path, DROPS_THINKING)
    thought = "<think>\n" + "I should look it up first. " * 20 + "</think>\n\nWhich part?"
    asked = {"role": "user", "content": "P017"}
    messages = [
        asked,
        {"role": "assistant", "content": thought},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "content": "Too late."},
        asked,
        {"role": "assistant", "content": "It is red."},
    ]
    limit = len(renderer.prompt_ids(messages[:3], None)) - 1
    example = supervised_examples(renderer, limit=limit, train_on="all")(
        ExampleRow(1, {"messages": messages})
    )
    texts = [text for text, _ in _learned(renderer, example)]
    assert example.cut
    assert texts[-1] == "It is red."
    assert "Too late." not in texts


def test_a_first_message_that_answers_nothing_is_not_learned(renderer: Renderer) -> None:
    greeting = {"role": "assistant", "content": "Hello."}
    row = ExampleRow(1, {"messages": [greeting, *MESSAGES[:2]]})
    example = supervised_examples(renderer, limit=1000, train_on="all")(row)
    ((text, before),) = _learned(renderer, example)
    assert text.endswith("Which part?")
    assert before == renderer.prompt_ids([greeting, MESSAGES[0]], None)
    with pytest.raises(DatasetError):
        supervised_examples(renderer, limit=1000, train_on="all")(
            ExampleRow(1, {"messages": [greeting]})
        )
