"""Graders as guides, the API reference and cookbooks print them, each with its scores."""

from typing import Any

from tests.support.contract.published_bodies import ANSWER, LIKE, SAME, TEXT, judge, multi, similar

SCHEMA = {
    "type": "object",
    "properties": {"compliant": {"type": "string"}, "explanation": {"type": "string"}},
    "required": ["compliant", "explanation"],
    "additionalProperties": False,
}
AS_JSON = {
    "type": "json_schema",
    "json_schema": {"name": "security_assistant", "strict": True, "schema": SCHEMA},
}
WRITTEN = '{"compliant": "yes", "explanation": "keys are rotated"}'
GUIDE = {
    "type": "multi",
    "graders": {
        "explanation": judge(name="Explanation", range=[0, 1]),
        "compliant": {
            "type": "string_check",
            "name": "Compliant",
            "operation": "eq",
            "reference": "{{item.compliant}}",
            "input": "{{sample.output_json.compliant}}",
        },
    },
    "calculate_output": "0.5 * compliant + 0.5 * explanation",
}
PYTHON = {
    "type": "python",
    "name": "p",
    "source": "def grade(sample, item):\n    return 1.0\n",
    "image_tag": "2025-05-08",
}
JUDGED = 0.75
"""The score that the scripted judge answers with."""
Graded = tuple[dict[str, Any], dict[str, float]]
GRADED: dict[str, Graded] = {
    "API reference": (
        {"grader": SAME, "hyperparameters": {"reasoning_effort": "medium"}},
        {ANSWER: 1, "Six": 0},
    ),
    "guide, with a JSON schema": (
        {"grader": GUIDE, "response_format": AS_JSON},
        {WRITTEN: 0.5 + 0.5 * JUDGED, WRITTEN.replace("yes", "no"): 0.5 * JUDGED},
    ),
    "response_format text": (
        {"grader": LIKE, "response_format": {"type": "text"}},
        {"SIX legs": 1, "legs": 0},
    ),
    "response_format json_object": (
        {"grader": GUIDE, "response_format": {"type": "json_object"}},
        {WRITTEN: 0.5 + 0.5 * JUDGED},
    ),
    "neq": ({"grader": {**SAME, "operation": "neq"}}, {ANSWER: 0, "five": 1}),
    "fuzzy_match": ({"grader": similar("fuzzy_match")}, {ANSWER: 1, "sixty": 0.75, "no": 0}),
    "bleu": ({"grader": similar("bleu", "one two three four")}, {"one two three four": 1}),
    "gleu": ({"grader": similar("gleu", "one two")}, {"one two": 1, "one": 1 / 3}),
    "rouge_l": ({"grader": similar("rouge_l", "one two")}, {"one": 2 / 3}),
    "model grader with a range and a threshold": (
        {"grader": judge(range=[0, 2], pass_threshold=0.4, sampling_params={"temperature": 0})},
        {"any": JUDGED},
    ),
    "model grader, the guide's spelling of a limit, typed content": (
        {
            "grader": {
                **judge(sampling_params={"max_completions_tokens": 64, "seed": 1, "top_p": 1}),
                "input": [
                    {
                        "role": "user",
                        "type": "message",
                        "content": {"type": "input_text", "text": f"Rate: {TEXT}"},
                    }
                ],
            }
        },
        {"any": JUDGED},
    ),
    "model grader with a list of parts": (
        {
            "grader": {
                **judge(),
                "input": [
                    {"role": "developer", "content": "Rate."},
                    {"role": "user", "content": [{"type": "input_text", "text": TEXT}]},
                ],
            }
        },
        {"any": JUDGED},
    ),
    "formula with max, min, sqrt, abs and powers": (
        {
            "grader": multi(
                "max(near, 0.1) + sqrt(min(near, 0.25)) - abs(exact - 1) ^ 2",
                near=similar("fuzzy_match"),
                exact=SAME,
            )
        },
        {ANSWER: 1.5, "sixty": 0.75 + 0.5 - 1, "no": 0.1 - 1},
    ),
    "nested paths": (
        {
            "grader": multi(
                "deep + said + asked",
                deep={**SAME, "input": "{{item.facts.legs[0].count}}", "reference": "6"},
                said={**SAME, "input": "{{sample.choices[0].message.content}}"},
                asked={**SAME, "operation": "like", "reference": "ant",
                       "input": "{{item.messages[0].content}}"},
            )
        },
        {ANSWER: 3, "five": 2},
    ),
}  # fmt: skip
