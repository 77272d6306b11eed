"""One `multi` grader with a part of every kind, its judge, and what each part must score."""

import json
import re
from typing import Any

from app.graders.definitions import SINGLE_MODELS
from tests.support.endpoints import ReceivedRequest, Reply
from tests.support.grading.judge_server import KEY, judges, score_of
from tests.support.grading.judges import CODED, judged_reply

FORMULA = "0.5 * records + 0.25 * exact + 0.25 * near + 0.1 * vowels"
VOWELS = """
import re
def grade(sample, item):
    text = sample["output_text"]
    assert sample["turns"][-1]["content"] == text
    return len(re.findall("[aeiou0-9]", text)) / (1 + len(text)) + ("reference_answer" in item)
"""
TEXTS = {"input": "{{ sample.output_text }}", "reference": "{{ item.reference_answer }}"}
REFERENCE = "{{ item.reference_answer }}"
MADE_BY_EPISODES = frozenset({"environment"})
"""Kinds that only an HTTP environment's job has: tests/e2e/test_http_environment.py."""
OWN_NAMES = ("exact", "near", "vowels", "records")
"""Parts whose names are not their types."""


def four_parts(endpoint: str) -> dict[str, Any]:
    return {
        "exact": {"type": "string_check", "name": "exact", "operation": "eq", **TEXTS},
        "near": {
            "type": "text_similarity",
            "name": "near",
            "evaluation_metric": "fuzzy_match",
            **TEXTS,
        },
        "vowels": {"type": "python", "name": "vowels", "source": VOWELS},
        "records": {
            "type": "endpoint",
            "url": f"{endpoint}/grade",
            "headers": {"X-Grader-Key": "canary-grader-value"},
        },
    }


def every_part(endpoint: str, judge: str) -> dict[str, Any]:
    """`judge` is the address of `answer`."""
    asked = {"model": "judge", "base_url": f"{judge}/v1", "headers": {"Authorization": KEY}}

    def prompt(verb: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": verb + ": {{ sample.output_text }}"}]

    found = four_parts(endpoint) | {
        "exact_match": {"type": "exact_match", "reference": REFERENCE},
        "contains": {"type": "contains", "needles": [REFERENCE]},
        "json_valid": {"type": "json_valid"},
        "regex": {"type": "regex", "pattern": "[0-9]"},
        "format": {"type": "format", "tags": ["answer"]},
        "length_bounds": {"type": "length_bounds", "max": 3},
        "tool_call": {
            "type": "tool_call",
            "reference": json.dumps({"name": "lookup", "arguments": {"record": 0, "field": 0}}),
        },
        "code_execution": {
            "type": "code_execution",
            "function": "solve",
            "tests": json.dumps([{"arguments": [1], "expected": 2}]),
        },
        "score_model": {"type": "score_model", "input": prompt("Rate"), **asked},
        "label_model": {
            "type": "label_model",
            "input": prompt("Label"),
            "labels": ["even", "odd"],
            "passing_labels": ["even"],
            **asked,
        },
        "llm_judge": {"type": "llm_judge", **asked},
        "ai_judge": {"type": "ai_judge", **asked},
    }
    kinds = {part["type"] for part in found.values()}
    assert kinds == SINGLE_MODELS.keys() - MADE_BY_EPISODES, "a kind of grader has no part here"
    return found


def every_grader(endpoint: str, judge: str) -> dict[str, Any]:
    parts = every_part(endpoint, judge)
    others = " + ".join(name for name in parts if name not in OWN_NAMES)
    formula = f"{FORMULA} + 0.01 * ({others})"
    return {"type": "multi", "graders": parts, "calculate_output": formula}


def answer(received: ReceivedRequest) -> Reply:
    """Answers as the judge of every part: by the letters of the answer that it is asked about."""
    asked = received.json["messages"][-1]["content"]
    verb, _, text = asked.partition(": ")
    said: Any
    match verb:
        case "Rate":
            said = score_of(text) / 10
        case "Label":
            said = "odd" if score_of(text) % 2 else "even"
        case _ if "<rollout id=" in asked:
            said = _compared(asked)
        case _:
            return judges(received)
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    return judged_reply(received, json.dumps({CODED: said}), usage=usage)


def _compared(asked: str) -> dict[str, float]:
    shown = re.findall(r'<rollout id="(\d+)">\n(.*?)\n</rollout>', asked, re.DOTALL)
    last = {number: json.loads(messages)[-1] for number, messages in shown}
    return {number: score_of(message.get("content") or "") / 10 for number, message in last.items()}


def expected(rollout: dict[str, Any], reference: str) -> dict[str, float]:
    """Returns what the parts score that depend on nothing but the rollout and its reference."""
    messages = rollout["trace"]["messages"]
    spoken = [one for one in messages if one["role"] == "assistant"]
    text = spoken[-1]["content"] or ""
    called = {call["function"]["name"] for one in spoken for call in one.get("tool_calls") or ()}
    share = sum(letter in "aeiou0123456789" for letter in text) / (1 + len(text))
    found: dict[str, float] = {
        "vowels": share + 1,
        "exact": text == reference,
        "exact_match": text.strip() == reference.strip(),
        "contains": reference in text,
        "json_valid": _is_json(text),
        "regex": re.search("[0-9]", text) is not None,
        "format": re.search("<answer>.+</answer>", text) is not None,
        "length_bounds": len(text) <= 3,
        "tool_call": 0.3 if "lookup" in called else 0.0,
        "code_execution": 0.0,
        "score_model": score_of(text) / 10,
        "label_model": score_of(text) % 2 == 0,
        "llm_judge": score_of(text) / 10,
        "ai_judge": score_of(messages[-1]["content"] or "") / 10,
    }
    return {name: float(value) for name, value in found.items()}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
