"""Five graders agree with other implementations of the same measures, over drawn inputs."""

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rapidfuzz.fuzz_py import ratio
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

from app.graders.kinds.ai_judge import canonical, group_messages
from app.graders.kinds.text_similarity import similarity
from tests.support.grading.scores import scored

SENTENCE = "Ulm lies on the Danube and has the highest church spire of all towns in the south"
WORDS = SENTENCE.split()


def pair(seed: int) -> tuple[str, str]:
    """Returns a text and its reference, which share most words."""
    random = Random(seed)
    reference = [random.choice(WORDS) for _ in range(random.randint(6, 20))]
    kept = [word for word in reference if random.random() < 0.9]
    text = [random.choice(WORDS) if random.random() < 0.15 else word for word in kept]
    while len(text) < 4:
        text.append(random.choice(WORDS))
    return " ".join(text), " ".join(reference)


def short_pairs() -> list[tuple[str, str]]:
    """Returns texts of 0 to 5 words beside references of 0 to 5, equal, cut, changed and turned."""
    found = [("", ""), ("a b", "")]
    for size in range(1, 6):
        reference = WORDS[:size]
        for length in range(6):
            text = WORDS[:length]
            changed = (text, text[::-1], [*text[1:], "and"], ["and", *text[1:]], text[:1] * 5)
            found += [(" ".join(one), " ".join(reference)) for one in changed]
    return found


def test_bleu_is_that_of_sacrebleu() -> None:
    """By the defaults of `sentence_bleu`, of words that are split at white space."""
    peer = BLEU(tokenize="none", effective_order=True)
    for text, reference in [*short_pairs(), *map(pair, range(200))]:
        expected = peer.sentence_score(text, [reference]).score / 100
        assert similarity("bleu", text, reference) == pytest.approx(expected, abs=1e-6), text


def test_rouge_l_is_that_of_rouge_score() -> None:
    """The grader counts the longest common subsequence by itself, on bits."""
    peer = RougeScorer(["rougeL"])
    for seed in range(200):
        text, reference = pair(seed)
        expected = peer.score(reference, text)["rougeL"].fmeasure
        assert similarity("rouge_l", text, reference) == pytest.approx(expected, abs=1e-12)


def plain_ratio(text: str, reference: str) -> float:
    found: float = ratio(text, reference) / 100  # type: ignore[no-untyped-call]  # it has no types
    return found


def test_fuzzy_match_is_that_of_the_plain_python_of_rapidfuzz() -> None:
    """Texts from 4,096 characters on take another way through rapidfuzz than short ones."""
    for seed in range(200):
        text, reference = pair(seed)
        assert similarity("fuzzy_match", text, reference) == plain_ratio(text, reference)
    left, right = ("\n".join(pair(seed)[side] for seed in range(80)) for side in (0, 1))
    assert len(left) > 4_096
    assert similarity("fuzzy_match", left, right) == plain_ratio(left, right)


def value(random: Random, depth: int = 0) -> Any:
    kind = random.randrange(7 if depth < 3 else 5)
    match kind:
        case 0:
            return random.choice([None, True, False])
        case 1:
            return random.randrange(-3, 12)
        case 2:
            return random.randrange(-6, 24) / 2
        case 3 | 4:
            return random.choice(["", "a", "ab", "abc", "2026", "é"])
        case 5:
            return [value(random, depth + 1) for _ in range(random.randrange(4))]
        case _:
            return {random.choice("abc"): value(random, depth + 1) for _ in range(3)}


def schema(random: Random, depth: int = 0) -> dict[str, Any]:
    """Returns a JSON schema of one to three assertions."""
    assertions: list[dict[str, Any]] = [
        {"type": random.choice(["object", "array", "string", "number", "integer", "boolean"])},
        {"type": random.sample(["null", "string", "integer", "array", "object"], 2)},
        {"enum": [value(random, 2) for _ in range(3)]},
        {"const": value(random, 2)},
        {"minimum": random.randrange(-2, 5), "exclusiveMaximum": random.randrange(5, 12)},
        {"multipleOf": random.choice([1, 2, 3])},
        {"minLength": random.randrange(3), "maxLength": random.randrange(1, 4)},
        {"pattern": random.choice(["^a", "b$", "^[0-9]+$", "^.{2}$"])},
        {"minItems": random.randrange(3), "uniqueItems": random.random() < 0.5},
        {"required": random.sample("abc", random.randrange(3))},
        {"maxProperties": random.randrange(3)},
    ]
    if depth < 2:
        inner = [schema(random, depth + 1) for _ in range(2)]
        assertions += [
            {"items": inner[0]},
            {"properties": {"a": inner[0], "b": inner[1]}, "additionalProperties": False},
            {"properties": {"a": inner[0]}, "additionalProperties": inner[1]},
            {random.choice(["anyOf", "oneOf", "allOf"]): inner},
            {"not": inner[0]},
            {"if": inner[0], "then": inner[1]},
            {"prefixItems": inner, "items": False},
            {"contains": inner[0], "maxContains": 2},
        ]
    chosen = random.sample(assertions, random.randint(1, 3))
    return {key: part for assertion in chosen for key, part in assertion.items()}


async def test_json_valid_is_that_of_jsonschema() -> None:
    random, valid = Random(12), 0
    for _ in range(300):
        drawn = schema(random)
        peer = Draft202012Validator(drawn)
        values = [value(random) for _ in range(4)]
        for each in values:
            grader = {"type": "json_valid", "json_schema": drawn}
            result = await scored(grader, json.dumps(each))
            expected = peer.is_valid(each)
            assert bool(result.score) is expected, (drawn, each)
            valid += expected
    assert 200 < valid < 1_000, "the drawn values are of both kinds"


Message = dict[str, str]


def turn(content: str) -> Message:
    return {"role": "assistant", "content": content}


def conversations(random: Random) -> list[list[Message]]:
    """Returns a group whose rollouts begin alike, whatever follows."""
    shared = [{"role": "user", "content": random.choice(WORDS)} for _ in range(random.randrange(4))]
    return [
        [
            *shared,
            *(
                {"role": "assistant", "content": random.choice("ab")}
                for _ in range(random.randint(1, 3))
            ),
            turn(f"answer {number}"),
        ]
        for number in range(random.randint(2, 6))
    ]


def shared_messages(group: Sequence[Sequence[Message]]) -> int:
    """Returns the length of the common beginning by the rule of RULER: whole messages that are
    equal in all rollouts.
    """
    return next(
        (
            index
            for index, message in enumerate(group[0])
            if any(len(one) <= index or one[index] != message for one in group)
        ),
        len(group[0]),
    )


def test_the_prompt_of_a_group_keeps_the_contract_of_ruler() -> None:
    """Source: `src/art/rewards/ruler.py` of OpenPipe/ART: a common beginning that is sent once,
    then each rollout's other messages as JSON under the ids 1 to N; the names of the tags differ.
    """
    for seed in range(50):
        group = conversations(Random(seed))
        _, user = group_messages("Be fair.", [canonical(one) for one in group], [])
        text = user["content"]
        count = shared_messages(group)
        beginning = re.findall(r"<shared_start>\n(.*?)\n</shared_start>", text, re.DOTALL)
        assert [json.loads(part) for part in beginning] == ([group[0][:count]] if count else [])
        shown = re.findall(r'<rollout id="(\d+)">\n(.*?)\n</rollout>', text, re.DOTALL)
        assert [(name, json.loads(part)) for name, part in shown] == [
            (str(number), one[count:]) for number, one in enumerate(group, start=1)
        ]
