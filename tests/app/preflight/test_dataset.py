import json
from pathlib import Path
from typing import Any

import pytest

from app.jobs.dataset_checks import inspect
from app.jobs.methods import train_on as train_on_of
from app.jobs.preflight import DatasetReport, InspectionRequest
from app.jobs.supervised import TrainOn
from app.kit.errors import PreflightIssue
from app.models.models import BaseModelSpec
from app.settings import shipped_models
from tests.support.models.tiny_model import KEEPS_THINKING, build_tokenizer
from tests.support.rendering.family_templates import FAMILIES, save_family

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "lookup",
        "parameters": {"type": "object", "properties": {"record": {"type": "string"}}},
    },
}


def row(text: str, **extra: Any) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text}], **extra}).encode() + b"\n"


def look(
    directory: Path,
    training: list[bytes],
    validation: list[bytes],
    *,
    tools: frozenset[str] | None = frozenset(),
    base: BaseModelSpec | None = None,
    method: Any = "reinforcement",
    effort: str | None = None,
    learned: TrainOn = "all",
    ending_share: float | None = 0.95,
    answered: bool = False,
) -> DatasetReport:
    (directory / "train.jsonl").write_bytes(b"".join(training))
    (directory / "valid.jsonl").write_bytes(b"".join(validation))
    request = InspectionRequest(
        method=method,
        training=directory / "train.jsonl",
        validation=directory / "valid.jsonl",
        job_tools=tools,
        base_model=base or shipped_models()[0],
        reasoning_effort=effort,
        train_on=learned,
        no_room_share=ending_share,
        calls_answered=answered,
    )
    return inspect(request)


def reported(report: DatasetReport) -> list[tuple[str, str | None, int | None, str | None]]:
    return [(f.code, f.param, f.line, f.pointer) for f in report.issues]


def test_every_fault_of_both_files_is_reported_with_line_and_pointer(tmp_path: Path) -> None:
    training = [row(f"a{n}") for n in range(12)]
    training[3] = b'{"messages": []}\n'
    training[7] = b"nope\n"
    training.insert(8, b"\n")
    training[10] = row("x", tools=[TOOL])
    validation = [row(f"b{n}") for n in range(3)]
    validation[1] = b'{"messages": [{"role": "assistant", "content": "no question"}]}\n'
    report = look(tmp_path, training, validation)
    assert reported(report) == [
        ("invalid_training_file", "training_file", 4, "/messages"),
        ("invalid_training_file", "training_file", 8, ""),
        ("invalid_training_file", "training_file", 11, "/tools/0/function/name"),
        ("invalid_validation_file", "validation_file", 2, "/messages/0/role"),
        ("invalid_n_examples", "validation_file", None, None),
    ]
    assert report.training is not None
    assert (report.training.rows, report.training.faulty_rows) == (12, 3)
    assert report.issues[-1].message == (
        "Validation file has 3 example(s), but must have at least 10 examples"
    )


def test_equal_faults_are_one_issue_with_their_count_and_first_lines(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "a"}
    rows = [
        json.dumps({"messages": [{"role": "user", "content": "q"}] * n + [answer]}).encode() + b"\n"
        for n in range(1, 9)
    ]
    report = look(tmp_path, [*rows, b"[]\n", row("x")], [row(f"{n}") for n in range(10)])
    last, whole = [issue for issue in report.issues if issue.severity == "error"]
    assert (last.line, last.pointer) == (1, "/messages/1/role")
    assert last.message == (
        "Line 1, /messages/1/role: the last message must have role 'user': the answer is the "
        "model's to give. Rows that end with an answer to learn are for a job whose method.type is "
        "'supervised' (8 times, lines 1, 2, 3, 4, 5, …)"
    )
    assert whole.message == "Line 9: not a JSON object"
    assert report.training is not None
    assert report.training.faulty_rows == 9


def test_rows_of_other_methods_in_a_preference_job_have_one_fault_with_its_cure(
    tmp_path: Path,
) -> None:
    report = look(tmp_path, [row(f"{n}") for n in range(12)], [], method="dpo")
    [issue] = [each for each in report.issues if each.code == "invalid_training_file"]
    assert issue.pointer == "/input"
    assert "send 'method.type' as 'supervised' or 'reinforcement', or rows with" in issue.message
    assert issue.message.endswith("(12 times, lines 1, 2, 3, 4, 5, …)")


def test_faults_past_the_hundredth_are_counted(tmp_path: Path) -> None:
    rows = [json.dumps({f"k{n}": 1}).encode() + b"\n" for n in range(130)]
    report = look(tmp_path, rows, [row(f"{n}") for n in range(10)])
    assert len(report.issues) == 101
    assert report.issues[100].message == "30 more faults, in 130 faulty rows altogether."


def test_rows_are_judged_by_their_method(tmp_path: Path) -> None:
    question = {"role": "user", "content": "q"}
    answer = {"role": "assistant", "content": "a"}
    chat = json.dumps({"messages": [question, answer]}).encode() + b"\n"
    pair = {"input": {"messages": [question]}, "preferred_output": [answer]}
    pair["non_preferred_output"] = [{**answer, "content": "b"}]
    preference = json.dumps(pair).encode() + b"\n"
    for method, good, bad in (("supervised", chat, preference), ("dpo", preference, chat)):
        report = look(tmp_path, [good] * 10 + [bad], [good] * 10, method=method)
        faults = [f for f in report.issues if f.severity == "error"]
        assert {f.line for f in faults} == {11}
        assert report.training is not None
        assert report.training.tokens is not None
        assert report.training.tokens.measured_rows == 10


def test_repeats_and_overlap_name_their_lines(tmp_path: Path) -> None:
    training = [row(f"a{n}", reference=n) for n in range(10)]
    training += [row("a2", reference="another"), row("a2")]
    validation = [row(f"b{n}") for n in range(10)] + [row("a9"), row("a0")]
    report = look(tmp_path, training, validation)
    assert report.training is not None
    assert report.training.duplicate_rows == 2
    assert report.training.duplicate_lines == ((3, 11), (3, 12))
    assert report.overlap is not None
    assert report.overlap.rows == 2
    assert "2 rows of the validation file are in the training file too (line 11 is line 10, " in (
        report.issues[1].message
    )
    assert report.overlap.lines == ((10, 11), (1, 12))
    assert [f.severity for f in report.issues] == ["warning", "warning"]


def test_lengths_are_the_templates_own_and_name_the_context(tmp_path: Path) -> None:
    training = [row("a" * length) for length in range(1, 101)]
    training.append(row("b" * 3000))
    report = look(tmp_path, training, [row(f"v{n}") for n in range(10)])
    assert report.training is not None
    lengths = report.training.tokens
    assert lengths is not None
    assert lengths.measured_rows == 101
    assert (lengths.context_length, lengths.over_context) == (1024, 1)
    assert lengths.max > 1024 > lengths.p99 >= lengths.p90 > lengths.p50
    assert ("prompt_exceeds_context", "training_file", 101, None) in reported(report)


LONG, SHORT = "b" * 3000, "b"


@pytest.mark.parametrize(
    ("training", "validation", "ending_share", "found"),
    [
        ([LONG] * 10, [SHORT] * 10, 0.95, [("error", "training_file", 1)]),
        ([SHORT, *[LONG] * 19], [SHORT] * 10, 0.95, [("warning", "training_file", 2)]),
        ([SHORT] * 10, [SHORT, *[LONG] * 19], 0.95, [("error", "validation_file", 2)]),
        ([SHORT] * 10, [SHORT, SHORT, *[LONG] * 18], 0.9, [("error", "validation_file", 3)]),
    ],
)  # fmt: skip
def test_prompts_without_room_for_an_answer_are_errors_where_they_end_the_job(
    tmp_path: Path,
    training: list[str],
    validation: list[str],
    ending_share: float | None,
    found: list[tuple[str, str, int]],
) -> None:
    files = [[row(text) for text in texts] for texts in (training, validation)]
    report = look(tmp_path, *files, ending_share=ending_share)
    full = [one for one in report.issues if one.code == "prompt_exceeds_context"]
    assert [(one.severity, one.param, one.line) for one in full] == found
    for one in full:
        assert "fill the model's context of 1024 tokens (the longest has 30" in one.message
        assert "use a base model with a longer context" in one.message


def test_a_line_of_many_megabytes_is_one_fault_and_the_next_line_is_read(tmp_path: Path) -> None:
    training = [row(f"a{n}") for n in range(10)]
    training.insert(2, row("x" * 5_000_000))
    training.append(b"last\n")
    report = look(tmp_path, training, [row(f"v{n}") for n in range(10)])
    assert reported(report) == [
        ("invalid_training_file", "training_file", 3, ""),
        ("invalid_training_file", "training_file", 12, ""),
    ]


def test_a_tool_must_survive_template_and_parser(tmp_path: Path) -> None:
    directory = tmp_path / "model"
    directory.mkdir()
    build_tokenizer(KEEPS_THINKING).save_pretrained(directory)
    (directory / "config.json").write_text('{"max_position_embeddings": 512}')
    base = BaseModelSpec(name="m", path=str(directory), context_length=512)
    rows = [row(f"a{n}", tools=[TOOL]) for n in range(10)]
    valid, named = [row(f"v{n}") for n in range(10)], frozenset({"lookup"})
    assert look(tmp_path, rows, valid, tools=named, base=base).issues == ()
    # The shipped model's template shows names and types of parameters, without their descriptions.
    assert look(tmp_path, rows, valid, tools=named).issues == ()
    properties = {"record": {"type": "string", "description": "its number"}}
    described = {"name": "lookup", "parameters": {"type": "object", "properties": properties}}
    tool = {"type": "function", "function": described}
    hidden = look(tmp_path, [row(f"a{n}", tools=[tool]) for n in range(10)], valid, tools=named)
    assert reported(hidden) == [("tool_schema", "training_file", 1, "/tools/0/function")]
    assert hidden.issues[0].message == (
        "Tool 'lookup': the chat template does not show the model 'description' of the parameter "
        "'record'."
    )


def test_a_registered_tool_that_no_row_offers_is_reported(tmp_path: Path) -> None:
    rows = [row(f"a{n}") for n in range(10)]
    report = look(tmp_path, rows, [row(f"v{n}") for n in range(10)], tools=frozenset({"idle"}))
    assert [(f.severity, f.code) for f in report.issues] == [("warning", "unused_tool")]


def test_a_template_that_drops_thoughts_is_reported_where_a_reply_makes_it_do_so(
    tmp_path: Path,
) -> None:
    save_family(tmp_path / "model", FAMILIES["hermes thinking"])
    base = BaseModelSpec(name="m", path=str(tmp_path / "model"), context_length=512)
    files = [row(f"a{n}") for n in range(10)], [row(f"v{n}") for n in range(10)]

    def found(**changes: Any) -> list[PreflightIssue]:
        report = look(tmp_path, *files, base=base, **changes)
        return [issue for issue in report.issues if issue.code == "thoughts_dropped"]

    assert found(tools=frozenset({"idle"})) == [], "a tool's reply drops none"
    [issue] = found(answered=True)
    assert (issue.severity, issue.param) == ("warning", "model")
    assert "behind messages of the role 'user'." in issue.message


def test_tools_that_are_not_run_are_reported(tmp_path: Path) -> None:
    plain = [row(f"a{n}") for n in range(10)]
    offering = [row(f"v{n}", tools=[TOOL]) for n in range(10)]
    report = look(tmp_path, plain, offering, tools=None)
    warned = [(f.severity, f.code, f.param) for f in report.issues if f.code != "tool_schema"]
    assert warned == [("warning", "tools_not_run", "method.reinforcement.tools")]
    [reported] = [f.message for f in report.issues if f.code == "tools_not_run"]
    assert reported.endswith(
        "To run them, send 'tools', 'mcp_servers' or an 'environment' of type 'http' in "
        "method.reinforcement."
    )
    assert report.validation is not None
    assert report.validation.tools == {"lookup": 10}
    assert look(tmp_path, plain, plain[::-1], tools=None).issues[:-1] == ()


def test_prompts_are_as_long_as_the_jobs_effort_makes_them(tmp_path: Path) -> None:
    template = tmp_path / "told.jinja"
    template.write_text(
        "{%- if reasoning_effort is defined %}Think {{ reasoning_effort }}.{% endif -%}"
        + KEEPS_THINKING
    )
    base = shipped_models()[0].model_copy(update={"chat_template": template})
    rows = [row(f"a{n}") for n in range(12)]
    lengths = {}
    for effort in (None, "default", "low", "medium"):
        report = look(tmp_path, rows, rows, base=base, effort=effort)
        assert report.training is not None
        assert report.training.tokens is not None
        lengths[effort] = report.training.tokens.max
    assert lengths[None] == lengths["default"] < min(lengths["low"], lengths["medium"])


def test_an_answer_without_weight_is_no_last_answer_to_learn(tmp_path: Path) -> None:
    question, answer = {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}
    messages = [question, answer, question, {**answer, "weight": 0}]
    line = json.dumps({"messages": messages}).encode() + b"\n"
    for train_on in ("all", "last"):
        call = {"type": "supervised", "supervised": {"train_on": train_on}}
        report = look(
            tmp_path, [line] * 10, [line] * 10, method="supervised", learned=train_on_of(call)
        )
        faults = [f.pointer for f in report.issues if f.severity == "error"]
        assert faults == ([] if train_on == "all" else ["/messages/3/weight"] * 2)
