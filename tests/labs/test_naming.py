from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from typing import Any

from labs.base_models.corpus import Transcript, transcripts
from labs.base_models.naming import HARD, ORIGINAL_SHARE, SYSTEM_PROMPT_SHARE, draw_naming
from labs.base_models.pretrain import SLOPPY
from labs.base_models.vocabulary import TOOLS, Call, lookup

COUNT = 2000
DRAWN = list(itertools.islice(transcripts(21, SLOPPY), COUNT))


def offered(transcript: Transcript) -> dict[str, list[str]]:
    functions = [tool["function"] for tool in transcript.tools]
    return {f["name"]: [*f["parameters"]["properties"]] for f in functions}


def calls(transcript: Transcript) -> list[dict[str, Any]]:
    return [c["function"] for m in transcript.messages for c in m.get("tool_calls") or []]


def test_every_call_follows_the_schema_that_its_transcript_shows() -> None:
    called = 0
    for transcript in DRAWN:
        schemas = offered(transcript)
        for call in calls(transcript):
            called += 1
            assert [*json.loads(call["arguments"])] == schemas[call["name"]]
    assert called > COUNT / 2


def test_names_differ_from_transcript_to_transcript() -> None:
    names = Counter(name for t in DRAWN for name in offered(t))
    arguments = Counter(a for t in DRAWN for found in offered(t).values() for a in found)
    assert len(names) > COUNT
    assert max(names.values()) < 0.2 * COUNT
    assert len(arguments) > COUNT / 2


def test_one_to_four_tools_are_offered_in_any_order() -> None:
    assert {len(t.tools) for t in DRAWN} == {1, 2, 3, 4}
    usual = [t.tools for t in DRAWN if {*offered(t)} == {"lookup", "calculator"}]
    assert list(TOOLS) in usual
    assert list(reversed(TOOLS)) in usual
    expected = ORIGINAL_SHARE * HARD.further[0]
    assert 0.5 * expected < len(usual) / COUNT < 2 * expected


def test_some_transcripts_begin_with_a_system_prompt() -> None:
    prompts = [t.messages[0]["content"] for t in DRAWN if t.messages[0]["role"] == "system"]
    assert abs(len(prompts) / COUNT - SYSTEM_PROMPT_SHARE) < 0.04
    assert len(set(prompts)) > 0.8 * len(prompts)
    assert all(t.messages[-1]["role"] == "assistant" for t in DRAWN)


def test_sloppiness_does_not_depend_on_the_names() -> None:
    """Otherwise the model would guess more, or less, where a tool has a name of its own."""
    usual = [
        t for t in itertools.islice(transcripts(22, SLOPPY), 6 * COUNT) if "lookup" in offered(t)
    ]
    share = sum(not calls(t) for t in usual) / len(usual)
    assert abs(share - SLOPPY.guess) < 0.06


def test_a_call_is_renamed_and_keeps_its_values() -> None:
    rng = random.Random(3)
    swapped = 0
    for _ in range(200):
        naming = draw_naming(rng, HARD, ("lookup",))
        tool = naming.tools["lookup"]
        call = naming.renamed(lookup("P017", "price", "12"))
        assert call == Call(
            tool.name, {tool.arguments["record"]: "P017", tool.arguments["field"]: "price"}, "12"
        )
        swapped += [*call.arguments.values()] == ["price", "P017"]
    assert 20 < swapped < 100
