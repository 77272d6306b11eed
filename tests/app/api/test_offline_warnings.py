"""Warnings about supervised and preference jobs: the missing report, and options without effect."""

from typing import Any

from tests.support.api.application import Api
from tests.support.api.preflight import validate_call
from tests.support.cases import cases

JOBS = "/v1/fine_tuning/jobs"
QUESTION, ANSWER = '{"role": "user", "content": "q%d"}', '{"role": "assistant", "content": "a"}'
CHATS = "".join(f'{{"messages": [{QUESTION % n}, {ANSWER}]}}\n' for n in range(12)).encode()
PAIRS = "".join(
    f'{{"input": {{"messages": [{QUESTION % n}]}}, "preferred_output": [{ANSWER}], '
    f'"non_preferred_output": [{{"role": "assistant", "content": "b"}}]}}\n'
    for n in range(12)
).encode()
NO_REPORT = ("no_report", "validation_file")
SUPERVISED = "method.supervised"


async def warned(api: Api, sent: dict[str, Any]) -> tuple[set[tuple[str, str]], list[str]]:
    """Returns code and parameter of each warning of `validate`, and the warnings of the job."""
    report = await validate_call(api, sent)
    assert report["errors"] == []
    job = (await api.call("POST", JOBS, json=sent)).json()["id"]
    events = (await api.call("GET", f"{JOBS}/{job}/events?limit=100")).json()["data"]
    messages = [event["message"] for event in events if event["level"] == "warn"]
    found = {(one["code"], one["param"]) for one in report["warnings"]}
    said = {one["message"].removesuffix(".") for one in report["warnings"]}
    assert said >= {message.removesuffix(".") for message in messages}
    return found, messages


@cases(("kind", "rows"), [("supervised", CHATS), ("dpo", PAIRS)])
async def test_a_job_without_held_out_rows_is_warned_of_its_missing_report(
    api: Api, kind: str, rows: bytes
) -> None:
    training = (await api.upload(rows)).json()["id"]
    method: dict[str, Any] = {"type": kind, kind: {"stop": {"plateau": {"action": "stop"}}}}
    sent = {"model": "tiny-agent", "training_file": training, "method": method}
    found, messages = await warned(api, sent)
    assert found == {NO_REPORT, ("unused_option", f"method.{kind}.stop.plateau")}
    [missing] = [message for message in messages if "no report" in message]
    assert missing.startswith(f"A job of the method '{kind}' without 'validation_file' has no ")
    assert missing.endswith("Send held-out rows, 10 at least, as 'validation_file'")
    held_out = (await api.upload(rows.replace(b'"q', b'"h'))).json()["id"]
    assert await warned(api, {**sent, "validation_file": held_out}) == (set(), [])


async def test_rows_of_a_curriculum_are_held_out_too(api: Api) -> None:
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    rows = [{"messages": [{**turns[0], "content": f"q{n}"}, turns[1]]} for n in range(24)]
    curriculum = {"training": rows[:12], "validation": rows[12:]}
    call = {"model": "tiny-agent", "curriculum": curriculum}
    assert await warned(api, call) == (set(), [])
    found, _ = await warned(api, {**call, "curriculum": {"training": rows[:12]}})
    assert found == {NO_REPORT}


@cases(
    ("changes", "options", "warning", "sentence"),
    [
        ({"suffix": "a/b c:d"}, {}, ("suffix_changed", "suffix"), "has 'a-b-c-d' instead of the"),
        ({"max_rollouts": 5}, {}, ("unused_option", "max_rollouts"), "has no rollouts"),
        (
            {"hyperparameters": {"n_epochs": 1, "batch_size": 4}},
            {"hyperparameters": {"n_epochs": 2, "batch_size": 4}},
            ("unused_option", "hyperparameters.n_epochs"),
            "'method.supervised.hyperparameters.n_epochs' has another value, which is used",
        ),
        (
            {},
            {"stop": {"target": {"value": -1}}},
            ("unused_option", f"{SUPERVISED}.stop.target.value"),
            "a validation loss is at least 0",
        ),
    ],
)
async def test_what_changes_nothing_is_named_in_a_warning_and_an_event(
    api: Api,
    *,
    changes: dict[str, Any],
    options: dict[str, Any],
    warning: tuple[str, str],
    sentence: str,
) -> None:
    files = [(await api.upload(CHATS.replace(b'"q', to))).json()["id"] for to in (b'"q', b'"h')]
    sent = {
        "model": "tiny-agent",
        "training_file": files[0],
        "validation_file": files[1],
        "method": {"type": "supervised", "supervised": options},
        **changes,
    }
    found, messages = await warned(api, sent)
    assert found == {warning}
    assert any(sentence in message for message in messages), messages
    assert await warned(api, {**sent, **changes, "suffix": "Fine-1"}) == (
        found - {("suffix_changed", "suffix")},
        [message for message in messages if "the suffix" not in message],
    )
