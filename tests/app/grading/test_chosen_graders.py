"""The python graders that `auto` writes, run in the sandbox."""

from typing import Any

import pytest

from app.graders.choice import choose_by_item
from app.graders.definitions import AutoGrader
from app.graders.kinds.python import check_source
from tests.support.grading.scores import scored
from tests.support.sandbox.running import RunningSandbox


async def reward(sandbox: RunningSandbox, answer: Any, text: str) -> float:
    item = {"answer": answer}
    chosen = choose_by_item(AutoGrader(type="auto"), item).grader
    check_source(chosen["source"])
    result = await scored(chosen, text, item=item, sandbox=sandbox.client)
    assert result.errors.raised == ()
    return result.score


@pytest.mark.parametrize(
    ("answer", "text", "expected"),
    [
        (42, "12 + 30 = 42", 1),
        (42, "The answer is 42.", 1),
        ("1,000", "It costs $1,000.00", 1),
        (-5, "x = -5", 1),
        (1234, r"\boxed{1{,}234}", 1),
        (5, "__5__", 1),
        (5, "x_5", 0),
        (4, "a range of 3-4", 1),
        (2, "H2O", 0),
        (12, "it weighs 12kg", 1),
        (12, "USD12", 0),
        (0, "0x1F", 0),
        (0.5, "about .5", 1),
        ("so 40 + 2\n#### 42", "42", 1),
        (42, "none", 0),
        (10**30, f"{10**30}", 1),
        (-5, "x = \u22125", 1),
        (4, "a range of 3\u22124", 1),
        (-5, "x = $-5", 1),
        ("-$1,042.50", "-1042.5", 1),
        (1042, "1,0425", 0),
        (50, "it is 1.234,50", 0),
        (4, "It is 3/4 full", 0),
        (2, "It takes 2\u00bd hours", 0),
        (3, "7 apples / 3 pears", 1),
        (3, "1,2,3", 0),
        (1000, "it is 1_000", 1),
        (0, "it is 1_00", 0),
        ("#### -1,042.50", "-1042.5", 1),
        (0.75, "It is 3/4 full", 1),
        (-0.75, r"so x = -\frac34", 1),
        (2.75, "It takes 2 3/4 hours", 1),
        (0.75, "2 3/4", 0),
        (5, "5, or 3/0", 0),
        (2, "on 2, or 3/4/2026", 0),
        (4, "a ratio of 3:4", 0),
        (10, "2, or 2^10", 0),
        (1, "9" * 2_000 + "/" + "9" * 2_000, 0),
        (42, "<thinking>41, no 42</thinking>", 0),
        (42, "so 41</think>It is 42.", 1),
        (42, "The mark `<think>` is in line 42", 1),
        (
            42,
            "<|channel|>analysis<|message|>41<|end|><|start|>assistant<|channel|>final<|message|>42",
            1,
        ),
        (42, "analysisIs it 42", 0),
    ],
)
async def test_the_last_number_counts(
    sandbox: RunningSandbox, answer: Any, text: str, expected: float
) -> None:
    assert await reward(sandbox, answer, text) == expected


@pytest.mark.parametrize(
    ("answer", "text", "expected"),
    [
        ("42", "2+40=42\n#### 42\nI checked this in 3 ways.", 1),
        ("3", "2+40=42\n#### 42\nI checked this in 3 ways.", 0),
        ("42", "#### 1. Add\n40 + 2\n#### 2. Check\nIt is 42.", 1),
        ("42", "I put it in `<answer>`: <Answer>It is 42 (in 2 steps).</Answer> 7", 1),
        ("42", "<answer>none</answer> I tried 42", 0),
        ("42", r"It is $\boxed{42}$, by (3). Not \boxed{}.", 1),
        ("0.75", r"\boxed{\dfrac{3}{4}} of the 12", 1),
        ("3", r"\boxed{3 \times 10^5}", 0),
        ("90", r"The angle is \boxed{90^\circ}.", 1),
        ("18", "18 m^{2} of the garden", 1),
        ("2", "It is 2^10", 0),
        ("18 cm^2", "The answer is 18", 1),
    ],
)
async def test_a_marked_number_counts_and_its_unit_does_not(
    sandbox: RunningSandbox, answer: Any, text: str, expected: float
) -> None:
    assert await reward(sandbox, answer, text) == expected


@pytest.mark.parametrize(
    ("answer", "text", "expected"),
    [
        ({"town": "Ulm", "people": 2}, '{"people": 2, "town": "Ulm"}', 1),
        ({"town": "Ulm", "people": 2}, '```json\n{"town": "Ulm", "people": 3}\n```', 0.5),
        ({"town": "Ulm"}, '{"town": "Ulm", "river": "Danube"}', 0.5),
        ({"right": True}, '{"right": 1}', 0),
        ({"a": {"b": [1]}}, '{"a": {"b": [1.0]}}', 1),
        ({"a": [{"b": 0}]}, '{"a": [{"b": false}]}', 0),
        ({"a": [1, 2]}, '{"a": [1]}', 0),
        ({"a": "1"}, '{"a": 1}', 0),
        ('["Ulm", "Bonn"]', '["Ulm"]', 0.5),
        (["Ulm"], '{"0": "Ulm"}', 0),
        ({"town": "Ulm"}, "Ulm", 0),
        ({"town": "Ulm"}, "[" * 100_000, 0),
    ],
)
async def test_json_scores_the_share_of_equal_fields(
    sandbox: RunningSandbox, answer: Any, text: str, expected: float
) -> None:
    assert await reward(sandbox, answer, text) == expected
