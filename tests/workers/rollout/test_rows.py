"""A turn is sampled, trained and served in one context: what a chat renders before it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from app.files.datasets import DatasetRow
from app.kit.errors import InvalidRequest
from app.kit.ids import SampleKey
from app.rollouts.renderer import Renderer
from app.rollouts.trajectory import Trajectory
from app.tools.tools import ToolOutcome
from tests.support.rendering.family_templates import family_renderer
from tests.support.rollout.plays import check_contexts, check_rows, facts
from tests.support.rollout.policies import ScriptedPolicy
from tests.support.rollout.rollouts import KEY, row
from workers.journal import InMemoryJournal, Journal
from workers.rollout.environment import (
    AssistantTurn,
    CallPosition,
    EpisodeLimits,
    Observation,
    Reply,
    StepResult,
    ToolReply,
    UserReply,
)
from workers.rollout.episode import run_episode

ROW = row("search")
CALL = '<tool_call>\n{"name": "search", "arguments": {"q": "a"}}\n</tool_call>'
GLM_CALL = "<tool_call>search\n<arg_key>q</arg_key>\n<arg_value>a</arg_value>\n</tool_call>"


@dataclass(frozen=True)
class Writing:
    """How a family writes its turns."""

    thought: str
    call: str
    end_of_call: str
    end_of_answer: str

    def turns(self, renderer: Renderer) -> list[list[int]]:
        """Two calls, the first one without text, and two answers, each with its thought."""
        return [
            renderer.encode(self.thought.format(number) + text + end)
            for number, (text, end) in enumerate(
                [
                    (self.call, self.end_of_call),
                    (f"Again.\n{self.call}", self.end_of_call),
                    ("It is 41.", self.end_of_answer),
                    ("It is 42.", self.end_of_answer),
                ]
            )
        ]


FAMILIES = {
    "hermes thinking": Writing(
        "<think>\nthought {}\n</think>\n\n", CALL, "<|im_end|>", "<|im_end|>"
    ),
    "glm45": Writing("\n<think>thought {}</think>\n", GLM_CALL, "<|observation|>", "<|user|>"),
}


@dataclass
class Answering:
    """Answers calls as a tool and text as a user, whose second message is the last."""

    users: int = 0

    async def reset(self, row: DatasetRow, key: SampleKey, *, journal: Journal) -> Observation:
        del key, journal
        return Observation(list(row.messages), row.tools)

    async def step(self, turn: AssistantTurn) -> StepResult:
        replies: list[Reply] = [
            ToolReply(
                CallPosition(KEY, turn.index, number),
                call.name,
                call.arguments_json,
                ToolOutcome("found 41", None, 0.0, 1),
            )
            for number, call in enumerate(turn.tool_calls)
        ]
        if not replies:
            self.users += 1
            replies = [UserReply("Are you sure?")]
        return StepResult(tuple(replies), done=self.users > 1)

    async def close(self) -> None:
        pass


@pytest.fixture(params=sorted(FAMILIES))
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def renderer(family: str, tmp_path: Path) -> Renderer:
    return family_renderer(tmp_path, family)


async def play(
    renderer: Renderer, turns: list[list[int]], journal: InMemoryJournal
) -> tuple[Trajectory, ScriptedPolicy]:
    policy = ScriptedPolicy(turns, renderer.stop_token_ids)
    trajectory = await run_episode(
        ROW,
        KEY,
        policy=policy,
        renderer=renderer,
        environment=Answering(),
        journal=journal,
        limits=EpisodeLimits(20, context_length=512, max_turn_tokens=200),
        job_seed=7,
        temperature=1.0,
    )
    return trajectory, policy


async def test_a_turn_behind_dropped_thoughts_begins_a_row(family: str, renderer: Renderer) -> None:
    assert renderer.drops_thoughts_after == ("user",)
    turns = FAMILIES[family].turns(renderer)
    trajectory, policy = await play(renderer, turns, InMemoryJournal())
    check_rows(trajectory)
    check_contexts(renderer, trajectory, ROW.tools)
    assert [turn.row for turn in trajectory.turns] == [0, 0, 0, 1], "a tool's reply drops none"
    assert [turn.content for turn in trajectory.turns] == ["", "Again.", "It is 41.", "It is 42."]
    texts = [renderer.decode(one.tokens) for one in trajectory.rows]
    assert [[f"thought {n}" in text for n in range(4)] for text in texts] == [
        [True, True, True, False],
        [False, False, False, True],
    ]
    assert [prompt for prompt, _ in policy.calls[3:]] == [
        trajectory.rows[1].tokens[: -len(turns[3])]
    ]


async def test_a_replay_has_the_same_rows(family: str, renderer: Renderer) -> None:
    turns, journal = FAMILIES[family].turns(renderer), InMemoryJournal()
    first, _ = await play(renderer, turns, journal)
    again, policy = await play(renderer, turns, journal)
    assert policy.calls == []
    assert facts(again) == facts(first)


async def test_a_turn_that_no_chat_would_render_begins_a_row(
    family: str, renderer: Renderer
) -> None:
    """The text of a call in another split into tokens: a chat encodes what it reads anew."""
    first, *others = FAMILIES[family].turns(renderer)
    odd = [token for word in first for token in _letters(renderer, word)]
    assert renderer.decode(odd) == renderer.decode(first)
    trajectory, _ = await play(renderer, [odd, *others], InMemoryJournal())
    check_rows(trajectory)
    check_contexts(renderer, trajectory, ROW.tools)
    assert [turn.row for turn in trajectory.turns] == [0, 1, 1, 2]
    assert trajectory.turns[0].token_ids == tuple(odd), "the row trains what was sampled"


async def test_where_the_template_refuses_the_conversation_the_row_goes_on(tmp_path: Path) -> None:
    """Two calls at once, which Llama's template cannot show."""
    renderer = family_renderer(tmp_path, "llama3_json")
    call = '{"name": "search", "parameters": {"q": "a"}}'
    texts = [f"{call}; {call}", "It is 41.", "It is 42."]
    turns = [renderer.encode(f"{text}<|eot_id|>") for text in texts]
    trajectory, _ = await play(renderer, turns, InMemoryJournal())
    check_rows(trajectory)
    with pytest.raises(InvalidRequest, match="only one call at once"):
        renderer.prompt_ids(trajectory.messages, ROW.tools)
    [one] = trajectory.rows
    text = renderer.decode(one.tokens)
    assert [text.count(part) for part in ("found 41", "Are you sure?", *texts)] == [2, 1, 1, 1, 1]


def _letters(renderer: Renderer, token: int) -> list[int]:
    text = renderer.decode([token])
    if "<" in text or not text:
        return [token]
    return [number for letter in text for number in renderer.encode(letter)]
