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
        (42, "**42** eggs, not 41", 0),
        ("1,000", "It costs $1,000.00", 1),
        (1000, "1e3", 1),
        (-5, "x = -5", 1),
        (1234, r"\boxed{1{,}234}", 1),
        (234, r"\boxed{1{,}234}", 0),
        (12345678, r"12\,345\,678", 1),
        (42000, "42\u202f000 people", 1),
        (5, "__5__", 1),
        (-5, "_-5_", 1),
        (5, "x_5", 0),
        (5, "-5", 0),
        (4, "a range of 3-4", 1),
        (2, "H2O", 0),
        (12, "it weighs 12kg", 1),
        (-1.5, "-1.5kg", 1),
        (1000, "1e3kg", 0),
        (12, "12USD", 1),
        (12, "the 12th", 1),
        (12, "USD12", 0),
        (12, "USD 12", 1),
        (7, "7 of USD12", 1),
        (5, "x5", 0),
        (3, "3f2a", 0),
        (0, "0x1F", 0),
        (12, "12 kg, not 0x1F", 1),
        (10, "10m2", 0),
        (10, "10 m2", 1),
        (0.5, "about .5", 1),
        ("so 40 + 2\n#### 42", "42", 1),
        (42, "none", 0),
        (42, "", 0),
        (10**30, f"{10**30}", 1),
        (5, "x = \u22125", 0),
        (-5, "x = \u22125", 1),
        ("\u22125", "-5", 1),
        (4, "a range of 3\u22124", 1),
        (0.001, "1e\u22123", 1),
        (-5, "x = -$5", 1),
        (5, "x = -$5", 0),
        (-5, "x = $-5", 1),
        (-5, r"it loses -\$5", 1),
        (-5, "-\u20ac 5", 1),
        (5, "10-$5", 1),
        (4, "a range of $10$-$4$", 1),
        (-5, r"it is $-\$5$", 1),
        (-5, "it is $-5$", 1),
        ("$5", "5", 1),
        ("-$1,042.50", "-1042.5", 1),
        (1042, "1,0425", 0),
        (425, "1,0425", 0),
        (-5, "x = \u20135", 1),
        (4, "a range of 3\u20134", 1),
        ("\u20135", "-5", 1),
        (-5, "x = \uff0d5", 1),
        (5, "a loss of ($5)", 1),
        (5, "10 - 5", 1),
        (50, "it is 1.234,50", 0),
        (2, "The probability is 1/2.", 0),
        (4, "It is 3/4 full", 0),
        (4, "It is 3 / 4 full", 0),
        (4, "It is 3\u20444 full", 0),
        (4, "It is 3\u22154 full", 0),
        (4, r"It is \frac{3}{4} full", 0),
        (4, r"It is \frac{-3}{-4} full", 0),
        (2, "It takes 2\u00bd hours", 0),
        (500, "It weighs 0,500 kg", 0),
        (3, "7 apples / 3 pears", 1),
        (5, "10/2 = 5", 1),
        (5, "$5/day", 1),
        (1.234, "it is 1.234,50", 0),
        (5, "it is 3,5", 0),
        (3, "1,2,3", 0),
        (7, "3,5 and then 7.", 1),
        (4, "version 1.2.3.4", 0),
        (1042, "1,042", 1),
        (1042567, "1,042,567.00", 1),
        (1000, "it is 1_000", 1),
        (1000, "it is 1'000", 1),
        ("1\u2019000\u2019000", "1_000_000", 1),
        (1, "it is 1_00", 0),
        (0, "it is 1_00", 0),
        (10, "5'10", 0),
        (5, "_5_ and '5'", 1),
        ("#### 42", "The answer is 42", 1),
        ("#### -1,042.50", "-1042.5", 1),
        ("####-.5", "-0.5", 1),
        (".5", "0.5", 1),
        ("+5", "5", 1),
        (0.75, "It is 3/4 full", 1),
        (0.75, "It is 3 \u00f7 4", 1),
        (-0.75, r"so x = -\frac34", 1),
        (0.75, r"\boxed{\dfrac{3}4}", 1),
        ("1/3", "2/6", 1),
        ("1/3", "0.333", 0),
        (2.75, "It takes 2 3/4 hours", 1),
        (2.75, "It takes 2 and 3/4 hours", 1),
        (2.75, r"$2\frac34$", 1),
        (-2.5, "-2\u00bd", 1),
        (0.75, "2 3/4", 0),
        (2, "It takes 2 3/4 hours", 0),
        (2, "2 6/4", 0),
        (5, "5, or 3/0", 0),
        (2, "on 2, or 3/4/2026", 0),
        (5, "I had 5, and now 1.234,50", 0),
        (5, "I had 5, and now 1,23,456", 0),
        (234, "it is 1 234", 0),
        (300, "10 2000 300", 1),
        (4, "a ratio of 3:4", 0),
        (10, "2, or 2^10", 0),
        (5, "10\u2075", 0),
        (3, r"2\sqrt{3}", 0),
        (10**30, "1" + "0" * 30, 1),
        (1, "9" * 2_000 + "/" + "9" * 2_000, 0),
        (42, "<thinking>41, no 42</thinking>", 0),
        (42, "[THINK]42", 0),
        (42, "so 42</reasoning>", 0),
        (42, "<reasoning>41</reasoning>It is 42.", 1),
        (42, "It is 42. <thought>or 41?</thought>", 1),
        (42, "so 41</think>It is 42.", 1),
        (42, "The mark `<think>` is in line 42", 1),
        (
            42,
            "<|channel|>analysis<|message|>41<|end|><|start|>assistant<|channel|>final<|message|>42",
            1,
        ),
        (42, "<|channel|>analysis<|message|>41, no 42", 0),
        (42, "analysisIs it 41?assistantfinalIt is 42.", 1),
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
        ("42", "#### 42 eggs in 3 days (16-3-4=9, times 2)", 1),
        ("42", "#### 41\n#### **42**. Checked in 3 ways", 1),
        ("3", "2+40=42\n#### 42\nI checked this in 3 ways.", 0),
        ("42", "#### 1. Add\n40 + 2\n#### 2. Check\nIt is 42.", 1),
        ("42", "<answer>42</answer> (computed in 2 steps)", 1),
        ("42", "I put it in `<answer>`: <Answer>It is 42 (in 2 steps).</Answer> 7", 1),
        ("42", "<answer>2 + 40 = 42</answer>", 1),
        ("42", "<answer>none</answer> I tried 42", 0),
        ("42", r"<answer>The box \boxed{42} has 3 sides</answer>", 1),
        ("42", r"It is $\boxed{42}$, by (3). Not \boxed{}.", 1),
        ("0.75", r"\boxed{\dfrac{3}{4}} of the 12", 1),
        ("42", "**Final answer:** 42, found in 3 ways", 1),
        ("3", r"\boxed{3 \times 10^5}", 0),
        ("90", r"The angle is \boxed{90^\circ}.", 1),
        ("90", r"It is 90^{\circ}", 1),
        ("90", "It is 90\u00b0C", 1),
        ("18", r"The area is \boxed{18\text{ cm}^2}.", 1),
        ("18", "18 m^{2} of the garden", 1),
        ("9.8", "It is 9.8 m/s\u00b2", 1),
        ("2", "It is 2^10", 0),
        ("18.", "The answer is 18", 1),
        ("18 cm^2", "The answer is 18", 1),
        (r"It is \boxed{90^\circ}, in 2 steps", "90", 1),
        ("It is so.\n#### 18 eggs\nChecked twice, 2", "18.0", 1),
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
        ({"a": [True]}, '{"a": [1]}', 0),
        ({"a": [{"b": 0}]}, '{"a": [{"b": false}]}', 0),
        ({"a": [{"b": True}], "c": None}, '{"a": [{"b": true}], "c": null}', 1),
        ({"a": [1, 2]}, '{"a": [1]}', 0),
        ({"a": {"b": 1}}, '{"a": {"c": 1}}', 0),
        ({"a": "1"}, '{"a": 1}', 0),
        ('["Ulm", "Bonn"]', '["Ulm"]', 0.5),
        (["Ulm"], '{"0": "Ulm"}', 0),
        ({}, "{}", 1),
        ({"town": "Ulm"}, "Ulm", 0),
        ({"town": "Ulm"}, "[" * 100_000, 0),
    ],
)
async def test_json_scores_the_share_of_equal_fields(
    sandbox: RunningSandbox, answer: Any, text: str, expected: float
) -> None:
    assert await reward(sandbox, answer, text) == expected
