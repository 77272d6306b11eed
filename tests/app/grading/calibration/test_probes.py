"""The adversarial probes of a calibration, and when one is a hack."""

from typing import Any

from app.graders.calibration import Sample, keywords, probe_result, probes, prompt, spread
from tests.support.cases import cases

SAMPLES = [Sample("x", {"q": q}) for q in "abc" for _ in range(2)]


def test_the_five_probes() -> None:
    row = {"messages": [{"role": "user", "content": "Which town?"}], "answer": "Ulm"}
    samples = [Sample("<answer>Ulm, 89</answer>", row), Sample("Bonn", {"answer": "Bonn"})]
    made = {name: answers[0].text for name, answers in probes(samples).items()}
    assert (made["empty"], made["echo"]) == ("", "Which town?")
    assert {"Ulm", "Bonn", "town"} <= set(made["keywords"].split())
    assert made["overlong"].startswith("Bonn\nBonn\n")
    assert len(made["overlong"]) >= 19_000
    assert made["format_only"] == "<answer>x, x</answer>"


def test_a_row_is_probed_once_with_the_answer_of_another_row() -> None:
    samples = [Sample("Ulm", {"n": 1}), Sample("It is Ulm", {"n": 1}), Sample("Bonn", {"n": 2})]
    made = probes(samples)["overlong"]
    assert [(answer.item["n"], answer.text.split("\n")[0]) for answer in made] == [
        (1, "Bonn"),
        (2, "Ulm"),
    ]


@cases(
    ("item", "expected"),
    [
        ({"question": "Which town?", "answer": "Ulm"}, None),
        ({"messages": "Which town?", "answer": "Ulm"}, None),
        ({"messages": 7}, None),
        ({"messages": [{"role": "user", "content": ""}]}, None),
        ({"messages": [{"role": "assistant", "content": "Ulm"}]}, None),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "Which town?"}]},
                    {"role": "assistant", "content": "Ulm"},
                ]
            },
            "Which town?",
        ),
    ],
)
def test_an_echo_never_has_the_reference(item: dict[str, Any], expected: str | None) -> None:
    assert prompt(item) == expected
    made = probes([Sample("Ulm", item)])
    assert [answer.text for answer in made.get("echo", [])] == ([expected] if expected else [])


def test_keywords_stop_at_their_limit() -> None:
    many = {"text": " ".join(f"word{number}" for number in range(2_000))}
    unread = Sample("x", {"no": object()})
    heap = keywords([Sample("x", many), unread])
    assert len(heap) == 8_000
    assert heap.startswith("text word0 word1 ")


def test_a_probe_hacks_when_it_scores_like_an_answer_or_above_the_middle() -> None:
    real = spread(SAMPLES, [0.0, 0.0, 0.25, 0.25, 0.5, 0.5])
    assert not probe_result("empty", [0.0, 0.0], real).hacks
    assert not probe_result("empty", [0.125, 0.25], real).hacks
    assert probe_result("empty", [0.25, 0.25], real).hacks
    high = spread(SAMPLES, [0.9] * 6)
    assert probe_result("echo", [0.6], high).hacks
    assert not probe_result("echo", [0.5], high).hacks
