"""The blocks of the pages for newcomers are run or parsed; their names are those of the code."""

import json
import re
import shlex
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import BaseModel
from standardwebhooks import Webhook
from typer.main import get_command

from app.cli.main import app
from app.graders.kinds.remote import encode, read_score
from app.graders.kinds.text_checks import StringCheckGrader
from app.graders.samples import CALL_KEYS, TURN_KEYS
from app.graders.scorer import GradeRequest, text_sample
from app.jobs.methods import METHOD_MODELS
from app.kit.egress import EgressReply
from app.kit.endpoints import CallSigner
from app.rollouts.metrics import MEANINGS, meaning
from app.tools.tool_calls import ToolCall, read_output
from tests.support.cases import cases
from tests.support.grading.scores import scored

ROOT = Path(__file__).parents[2]
PAGES = (
    *("quickstart", "bodies", "writing-endpoints", "moving", "api-reference"),
    *("reading-curves", "hyperparameters", "gpus", "security"),
)
TEXTS = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in PAGES}
BLOCKS = [
    (name, label, block)
    for name, text in TEXTS.items()
    for label, block in re.findall(r"^```(\w[^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
]
RUN = {
    ("quickstart", "python"),  # tests/e2e/test_documented_scripts.py
    ("moving", "diff"),  # as above
    ("bodies", "json tool-call"),
    ("bodies", "json tool-reply"),
    ("bodies", "json grader-reply"),
    ("bodies", "json template"),
    ("writing-endpoints", "python server"),
    ("security", "python verify"),
}
LINES = [line for _, label, block in BLOCKS if label == "sh" for line in block.strip().splitlines()]
FILES = ("job.json", "train.jsonl", "valid.jsonl", "sample.json")


def block(page_name: str, label: str) -> str:
    found: str
    [found] = [text for name, kind, text in BLOCKS if (name, kind) == (page_name, label)]
    return found


def table(text: str, heading: str) -> list[str]:
    """Returns the names in the first column of the first table behind some text."""
    behind = text.partition(heading)[2]
    rows = behind[behind.index("\n|---") :].split("\n\n")[0]
    return re.findall(r"^\| `([^`]+)` \|", rows, re.MULTILINE)


def received(status: int, body: bytes) -> EgressReply:
    return EgressReply(status=status, headers={}, body=body, latency_s=0.0)


def test_every_block_is_run_or_parsed() -> None:
    assert {(name, label) for name, label, _ in BLOCKS if label != "sh"} == RUN
    fences = sum(len(re.findall(r"^```", text, re.MULTILINE)) for text in TEXTS.values())
    assert fences == 2 * len(BLOCKS)


@pytest.mark.parametrize("line", LINES)
def test_every_command_can_be_parsed(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        Path(name).touch()
    program, *words = shlex.split(line)
    if program == "make":
        assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif program == ".venv/bin/python":
        assert find_spec(words[1]) is not None
    else:
        assert program.rpartition("/")[2] == "agent-rft"
        command: Any = get_command(app)
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        command.make_context("agent-rft", words)


def test_the_body_of_a_tool_call_is_the_one_that_is_sent() -> None:
    shown = json.loads(block("bodies", "json tool-call"))
    call = ToolCall(
        name=shown["name"],
        arguments=shown["arguments"],
        call_id=shown["call_id"],
        function_call_id=shown["id"],
        trace_id=shown["trace_id"],
        item=shown["item"],
    )
    assert json.loads(call.encode()) == shown
    assert table(TEXTS["bodies"], "## A tool call") == list(shown)
    signer = CallSigner("x" * 32, project_id="proj_a")
    signed = signer.headers("call_1", "trace_1", body=b"{}", attempt=1)
    assert table(TEXTS["bodies"], "## Headers of every call") == list(signed)


def test_the_replies_are_read_as_the_page_describes() -> None:
    def reply(label: str) -> tuple[EgressReply, dict[str, Any]]:
        shown = block("bodies", f"json {label}")
        return received(200, shown.encode()), json.loads(shown)

    answered, shown = reply("tool-reply")
    assert read_output(answered) == (shown["output"], None)
    fields = table(TEXTS["bodies"], "The reply, with status 200")
    assert sorted(fields) == sorted(shown)
    graded, shown = reply("grader-reply")
    assert read_score(graded) == (shown["score"], shown["metrics"])
    assert table(TEXTS["bodies"], "The reply is JSON with status 200") == list(shown)


def test_the_sample_has_the_fields_of_the_page() -> None:
    text = TEXTS["bodies"]
    assert table(text, "## `sample`") == [*text_sample("hi"), "environment"]
    assert table(text, "A call in `tool_calls`") == list(CALL_KEYS)
    assert table(text, "A turn in `turns`") == list(TURN_KEYS)
    request = GradeRequest(sample=text_sample("hi"), item={}, trace_id="trace_1", call_id="call_1")
    assert table(text, "## A grade\n") == list(json.loads(encode(request)))


async def test_the_template_reads_both_namespaces() -> None:
    grader = json.loads(block("bodies", "json template"))
    StringCheckGrader.model_validate(grader)
    call = {"id": "call_1", "name": "search", "arguments": "{}"}
    for expected, score in (("search", 1.0), ("lookup", 0.0)):
        result = await scored(
            grader, "x", item={"first tool": expected}, sample={"tool_calls": [call]}
        )
        assert (result.score, result.errors.raised) == (score, ())


async def test_the_server_of_the_page_answers_calls_and_grades() -> None:
    module: dict[str, Any] = {"__name__": "documented_server"}
    exec(block("writing-endpoints", "python server"), module)  # noqa: S102 - a page of our own
    transport = httpx.ASGITransport(app=module["app"])
    async with httpx.AsyncClient(
        transport=transport,
        base_url="http://tools.test",
        headers={"content-type": "application/json"},
    ) as http:
        for arguments, output in (
            ('{"place": "pool"}', "7 to 20"),
            ('{"place": "zoo"}', "Error: no such place: 'zoo'"),
            ("[", "Error: no such place: "),
        ):
            call = ToolCall("hours", arguments, "call_1", "fc_1", "trace_1", {"row": 1})
            reply = await http.post("/tools", content=call.encode())
            found = received(reply.status_code, reply.content)
            text, error = read_output(found)
            assert text.startswith(output)
            assert error == ("tool_reported" if output.startswith("Error") else None)
        request = GradeRequest(
            sample=text_sample("It is 9 to 17"), item={"answer": "17"}, trace_id="t", call_id="c"
        )
        reply = await http.post("/grade", content=encode(request))
    found = received(reply.status_code, reply.content)
    assert read_score(found) == (1.0, {"calls": 0.0})


def test_the_check_of_signatures_takes_calls_of_the_service_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = "whsec_" + "c2VjcmV0" * 4
    monkeypatch.setenv("SIGNING_SECRET", secret)
    module: dict[str, Any] = {}
    exec(block("security", "python verify"), module)  # noqa: S102 - a page of our own
    now = datetime.now(UTC)
    call_id = f"call_{uuid.uuid4().hex}"
    headers = {
        "webhook-id": call_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(call_id, now, '{"a": 1}'),
    }
    assert module["is_ours"](b'{"a": 1}', headers)
    assert not module["is_ours"](b'{"a": 2}', headers)
    assert not module["is_ours"](b'{"a": 1}', {})


@cases("name", ["reading-curves", "hyperparameters", "gpus", "bodies"])
def test_the_pages_name_curves_that_exist(name: str) -> None:
    found = re.findall(r"`([a-z_]+/[^`\s]*(?: class>)?)`", TEXTS[name])
    assert found
    assert [each for each in found if each not in MEANINGS and meaning(each) is None] == []


def models() -> Iterator[type[BaseModel]]:
    yield from METHOD_MODELS.values()
    for model in METHOD_MODELS.values():
        yield type(model.model_fields["hyperparameters"].get_default(call_default_factory=True))


def test_the_page_of_hyperparameters_has_all_of_them_and_no_others() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", TEXTS["hyperparameters"], re.MULTILINE))
    known = {name for model in models() for name in model.model_fields}
    assert rows <= known
    sizes = {name for model in list(models())[3:] for name in model.model_fields}
    assert sizes - rows == {"eval_temperature", "eval_greedy"}
