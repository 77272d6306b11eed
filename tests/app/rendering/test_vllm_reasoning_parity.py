"""Our reading of reasoning, which training and both engines have, against vLLM's own parsers.

Every case of every family is read by both, by vLLM whole and token by token. vLLM's part is
recorded, so that this runs without it. Where the two differ, `DIFFERENT` has the reason.
"""

from pathlib import Path
from typing import Final

from tests.support.rendering.vllm_reasoning import (
    FAMILIES,
    REASONING_TURNS,
    ours,
    recorded_reasoning,
)

UNMARKED: Final = "vLLM takes a turn without a start mark for a thought, ours for an answer"
ANYWHERE: Final = (
    "vLLM looks for marks anywhere, ours at the beginning: later ones are the answer's"
)
DROPPED: Final = "vLLM drops a mark within a thought, ours keeps what the model wrote"
UNOPENED: Final = "vLLM does not see that the prompt has opened the thought"
UNFINISHED: Final = "vLLM takes a thought without an end for the answer"
NOT_ASKED: Final = "vLLM streams a thought as the answer where the prompt does not ask for thinking"
JOINED: Final = "vLLM streams several thoughts without the line between them"
_THINKING: Final = ("qwen3", "deepseek_r1", "glm45", "nemotron_v3")

DIFFERENT: Final[dict[tuple[str, str], str]] = {
    **{
        (family, case): reason
        for family in _THINKING
        for case, reason in {
            "no thought": UNMARKED,
            "closed by the prompt": UNMARKED,
            "an end alone": UNMARKED,
            "text first": ANYWHERE,
            "a start within": DROPPED,
        }.items()
    },
    **{(family, "two thoughts"): ANYWHERE for family in ("qwen3", "glm45", "nemotron_v3")},
    ("mistral", "opened by the prompt"): UNOPENED,
    ("mistral", "opened, unfinished"): UNOPENED,
    ("mistral", "two thoughts"): ANYWHERE,
    ("mistral", "text first"): ANYWHERE,
    ("mistral", "an end alone"): DROPPED,
    ("mistral", "a start within"): DROPPED,
    **{
        ("gemma4", case): NOT_ASKED
        for case in (
            "thought and answer",
            "unfinished",
            "empty thought",
            "thought alone",
            "two thoughts",
            "several lines",
        )
    },
    ("gemma4", "text first"): ANYWHERE,
    ("gemma4", "an end alone"): UNMARKED,
    ("gemma4", "opened, unfinished"): UNFINISHED,
    ("gemma4", "a start within"): DROPPED,
    ("granite", "opened by the prompt"): UNOPENED,
    ("granite", "opened, unfinished"): UNOPENED,
    ("granite", "unfinished"): UNFINISHED,
    ("granite", "text first"): ANYWHERE,
    ("openai_gptoss", "two thoughts"): JOINED,
}
"""Reasons by family and case."""


def test_the_recording_has_every_case_of_every_family() -> None:
    assert set(recorded_reasoning()) == set(REASONING_TURNS)
    assert {turn.family for turn in REASONING_TURNS} == set(FAMILIES)


def test_both_split_a_turn_alike_unless_a_reason_is_given(tmp_path: Path) -> None:
    for turn in REASONING_TURNS:
        found, mine = recorded_reasoning()[turn], ours(turn, tmp_path)
        assert mine.streamed == mine.whole, (turn, "a stream ends as the whole turn")
        alike = found.whole == found.streamed == mine.whole
        assert alike == ((turn.family, turn.case) not in DIFFERENT), (turn, mine, found)


def test_every_reason_is_of_a_case() -> None:
    assert DIFFERENT.keys() <= {(turn.family, turn.case) for turn in REASONING_TURNS}
