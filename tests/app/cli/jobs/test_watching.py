"""`agent-rft jobs watch`: lines in a pipe, envelopes with --json, a picture in a terminal."""

import json
import re
from typing import Any

import pytest

from app.cli import client as patience
from app.cli.client import service as calling
from app.cli.output import Output
from app.cli.profiles import AddressSources
from app.cli.remote import Remote
from app.cli.terminal import ServiceError
from app.cli.watching import Event, FollowedJob, State, StreamSilent, watch_job
from tests.support.cli.command_line import agent_rft_in_terminal, running_agent_rft
from tests.support.cli.remote_commands import Commands, address_of
from tests.support.cli.scripted_service import cut, reply, scripted_service
from tests.support.contract.service import Service
from tests.support.dashboard.scenes import STEPS, put_lost
from tests.support.patience import wait_for

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
HOSTILE = "the tool says \x1b]0;owned\x07\rStep 99\u202e"
SHOWN = r"the tool says \x1b]0;owned\x07\rStep 99\u202e"
ERROR = {"code": "x", "message": "no \x1b[31m", "param": None}


def add_event(service: Service, job: str, message: str, step: int | None = None) -> None:
    """Adds an event; the points of its step are stored already."""
    service.execute(
        "INSERT INTO job_events (id, project_id, job_id, level, type, message, data)"
        " SELECT 'ftevent-' || id || %s, project_id, id, 'info', %s, %s, %s"
        " FROM fine_tuning_jobs WHERE id = %s",
        str(step),
        "message" if step is None else "metrics",
        message,
        None if step is None else json.dumps({"step": step}),
        job,
    )


@pytest.fixture(scope="module")
def shown(service: Service, trained: str) -> str:
    """Returns a job that has ended, with the event of each step and two lost rollouts."""
    put_lost(service.database, trained)
    for step in range(1, STEPS + 1):
        add_event(service, trained, f"Step {step}/{STEPS}", step)
    add_event(service, trained, HOSTILE)
    return trained


def test_a_pipe_gets_a_line_for_each_event_and_the_end(commands: Commands, shown: str) -> None:
    done = commands.run("jobs", "watch", shown)
    assert (done.returncode, done.stderr) == (0, "")
    *events, hostile, state, ending = done.stdout.splitlines()
    assert hostile.endswith(f"  info   {SHOWN}")
    assert [line.split("info   ")[-1] for line in events[-STEPS:]] == [
        f"Step {step}/{STEPS}" for step in range(1, STEPS + 1)
    ]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ  info   Step 12/12", events[-1])
    assert state == "status: succeeded, step 12/12"
    assert ending.startswith("succeeded: the tuned model is ")


def test_json_lines_are_the_envelope_and_the_last_one_reports_it(
    commands: Commands, shown: str
) -> None:
    done = commands.run("jobs", "watch", shown, "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["command"] for line in lines} == {"jobs watch"}
    assert [line["has_more"] for line in lines] == [True] * (len(lines) - 1) + [False]
    assert lines[-1]["data"]["status"] == "succeeded"
    assert lines[-2]["data"]["message"] == HOSTILE
    last = lines[-3]["data"]
    assert last["data"] == {"step": STEPS}
    values = {(point["name"], point["split"]): point["value"] for point in last["points"]}
    assert values["reward/mean", "train"] == pytest.approx(0.7)


def test_a_terminal_shows_progress_curves_lost_rollouts_and_events(
    service: Service, shown: str
) -> None:
    done = agent_rft_in_terminal(("jobs", "watch", shown), address_of(service))
    assert done.returncode == 0, done.stdout
    picture = ESCAPES.sub("", done.stdout).replace("\r\n", "\n")
    last = picture[picture.rindex(f"{shown}  succeeded") :]
    assert "step 12/12" in last
    assert "reward/mean train" in last
    assert "reward/mean valid" in last
    assert "lost rollouts: 10.0% of the last step" in last
    assert "  step 2: tool_timeout: search: no answer" in last
    assert [line[22:] for line in last.splitlines() if line.endswith(("/12", SHOWN))][-2:] == [
        "Step 12/12",
        SHOWN,
    ]
    assert "succeeded: the tuned model is " in last
    assert "\x1b]" not in done.stdout
    assert "\u202e" not in done.stdout


@pytest.mark.parametrize(
    ("status", "error", "code", "reported"),
    [
        ("cancelled", None, 21, "cancelled"),
        ("failed", ERROR, 20, r"(x): no \x1b[31m"),
        ("failed", {**ERROR, "code": "nothing_to_learn"}, 23, "failed (nothing_to_learn)"),
        ("paused", None, 22, "paused at step 0/?: agent-rft jobs resume ftjob-"),
    ],
)
def test_the_exit_code_names_how_the_job_ended(
    service: Service, job: str, status: str, error: dict[str, Any] | None, code: int, reported: str
) -> None:
    with running_agent_rft("jobs", "watch", job, **address_of(service)) as watching:
        wait_for(lambda: "status: validating_files" in watching.output(), what="the first state")
        query = "UPDATE fine_tuning_jobs SET status = %s, error = %s, finished_at = now()"
        sent = None if error is None else json.dumps(error)
        service.execute(f"{query} WHERE id = %s", status, sent, job)
        done = watching.ended()
    assert (done.returncode, done.stderr) == (code, "")
    assert reported in done.stdout.splitlines()[-1]


def test_an_interrupt_leaves_the_job_running(service: Service, job: str) -> None:
    with running_agent_rft("jobs", "watch", job, **address_of(service)) as watching:
        wait_for(lambda: "status: " in watching.output(), what="the first state")
        watching.interrupt()
        done = watching.ended()
    assert done.returncode == 130
    assert done.stderr.startswith(
        f"agent-rft: the job continues. Watch it again: agent-rft jobs watch {job}"
    )
    assert service.client().fine_tuning.jobs.retrieve(job).status == "validating_files"


def _event(number: int, message: str = "m") -> str:
    data = {"id": f"e{number}", "created_at": 1, "level": "info", "message": message}
    text = json.dumps(data, ensure_ascii=False)
    return f"event: message\nid: e{number}\ndata: {text}\n\n"


def _state(status: str) -> str:
    return f'event: job\ndata: {{"id": "ftjob-1", "status": "{status}"}}\n\n'


def _stream(*messages: str) -> bytes:
    return cut("".join(messages), kind="text/event-stream")


def test_a_stream_that_breaks_continues_behind_its_last_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "_FIRST_WAIT_S", 0.0)
    replies = [
        _stream(": idle\n\n", _event(1, "a\u2028b\x85c"), _event(2), "event: message\ndata: {"),
        reply("busy", status="503 X"),
        b"garbage\r\n",
        _stream(_state("running"), _event(3), _state("cancelled")),
    ]
    with scripted_service(replies) as found, calling(found.base_url, "k") as running:
        items = list(FollowedJob(running, "ftjob-1").items())
        heads = [re.findall(r"(?i)last-event-id: (\S+)", request) for request in found.requests]
    events = [item for item in items if isinstance(item, Event)]
    assert [event.reply.id() for event in events] == ["e1", "e2", "e3"]
    assert events[0].message == "a\u2028b\x85c"
    assert heads == [[], ["e2"], ["e2"], ["e2"]]
    reasons = [item.reason for item in items if isinstance(item, StreamSilent)]
    assert reasons[0] is None
    assert [reason is None for reason in reasons] == [True, False, False, False]
    assert str(reasons[2]).startswith("the service answered 503: X.")


@pytest.mark.parametrize(
    ("first", "later", "code"),
    [
        ([], [reply('{"error": {"message": "no"}}', status="401 X")], 16),
        ([], [_stream("event: job\ndata: nonsense\n\n")], 15),
        ([_event(1)], [reply("x", status="500 X")], 15),
    ],
)
def test_a_stream_that_cannot_continue_ends_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, first: list[str], later: list[bytes], code: int
) -> None:
    monkeypatch.setattr(patience, "_FIRST_WAIT_S", 0.0)
    replies = [*([_stream(*first)] if first else []), *later]
    with (
        scripted_service(replies) as found,
        pytest.raises(ServiceError) as failure,
        calling(found.base_url, "k") as running,
    ):
        patience_s = 0.0 if code == 15 and first else 300.0
        for _ in FollowedJob(running, "ftjob-1", patience_s=patience_s).items():
            pass
    assert failure.value.exit_code == code


def test_the_state_of_a_job_that_ended_long_ago_is_read() -> None:
    job = json.dumps({"id": "ftjob-1", "status": "failed", "error": {"code": "x"}})
    replies = [b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", reply(job)]
    with scripted_service(replies) as found, calling(found.base_url, "k") as running:
        [item] = FollowedJob(running, "ftjob-1").items()
    assert isinstance(item, State)
    assert item.exit_code == 20


JOB = {"id": "ftjob-1", "status": "running", "model": "m", "created_at": 1}


def test_a_watch_outlives_a_service_that_is_unavailable_at_its_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(patience, "_FIRST_WAIT_S", 0.0)
    replies = [
        reply("busy", status="503 X"),
        b"garbage\r\n",
        reply(json.dumps(JOB)),
        reply("busy", status="503 X"),
        _stream(),
        _stream(_event(1), _state("cancelled")),
    ]
    with scripted_service(replies) as found:
        remote = Remote(
            AddressSources(found.base_url, "k", None), Output("jobs watch", as_json=False)
        )
        assert watch_job(remote, "ftjob-1") == 21
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "cancelled"
    assert printed.err.count("the service is unavailable (") == 2
    assert printed.err.count("the stream is unavailable (") == 2
