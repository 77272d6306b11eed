from __future__ import annotations

import itertools
import json
import random
from typing import Any

from labs.base_models.corpus import Transcript, transcripts
from labs.base_models.naming import HARD, draw_naming
from labs.base_models.pretrain import SLOPPY
from labs.base_models.vocabulary import Call, lookup

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
