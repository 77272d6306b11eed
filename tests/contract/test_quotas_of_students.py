"""Quotas of what teaches: students, Coach sessions, feedback, and the jobs of `improve`."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from openai import OpenAI, RateLimitError

from tests.support.contract.quotas import count, quota, refused
from tests.support.contract.service import ROW, Service

NUMBERS = itertools.count()
CHECK = {"type": "string_check", "name": "x", "operation": "eq", "input": "a", "reference": "a"}
OPEN = "status IN ('running', 'paused')"
WAITING = "status IN ('validating_files', 'queued')"


@pytest.fixture
def client(service: Service) -> OpenAI:
    return service.client(max_retries=2)


def _post(client: OpenAI, path: str, body: Any = None) -> Any:
    return client.post(path, body=body, cast_to=httpx.Response).json()


def _student(client: OpenAI) -> str:
    body = {"name": f"clerk_{next(NUMBERS)}", "base_model": "tiny-agent"}
    return str(_post(client, "/students", body)["name"])


def _feedback(client: OpenAI) -> str:
    asked = [{"role": "user", "content": "?"}]
    body = {"type": "preference", "messages": asked, "chosen": "a", "rejected": "b"}
    return str(_post(client, "/feedback", body)["id"])


def _plan(client: OpenAI) -> dict[str, Any]:
    file = client.files.create(file=("rows.jsonl", ROW * 12), purpose="fine-tune")
    return {"training_file": file.id, "validation_file": file.id, "grader": CHECK}


def _session(client: OpenAI, plan: dict[str, Any]) -> str:
    sent = {**plan, "student": _student(client)}
    return str(_post(client, "/coach_sessions", sent)["id"])


def _passed(client: OpenAI, call: Callable[[OpenAI], Any]) -> int:
    """Returns how many of two calls at the same time passed."""

    def passes(_: int) -> bool:
        try:
            call(client)
        except RateLimitError:
            return False
        return True

    with ThreadPoolExecutor(2) as threads:
        return sum(threads.map(passes, range(2)))


def test_students(service: Service, client: OpenAI) -> None:
    with quota(service, max_students=count(service, "students") + 1):
        first = _student(client)
        refused(lambda: _student(client), "students")
        client.delete(f"/students/{first}", cast_to=httpx.Response)
        assert _passed(service.client(max_retries=0), _student) == 1


def test_open_coach_sessions(service: Service, client: OpenAI) -> None:
    plan = _plan(client)
    with quota(service, max_open_coach_sessions=count(service, "coach_sessions", OPEN) + 1):
        first = _session(client, plan)
        _post(client, f"/coach_sessions/{first}/pause")
        refused(lambda: _session(client, plan), "open_coach_sessions")
        improved = f"/students/{_student(client)}/improve"
        refused(lambda: _post(client, improved, {**plan, "coach": {}}), "open_coach_sessions")
        _post(client, f"/coach_sessions/{first}/cancel")
        assert _passed(service.client(max_retries=0), lambda each: _session(each, plan)) == 1


def test_feedback(service: Service, client: OpenAI) -> None:
    with quota(service, max_feedback=count(service, "feedback") + 1):
        first = _feedback(client)
        refused(lambda: _feedback(client), "feedback")
        client.delete(f"/feedback/{first}", cast_to=httpx.Response)
        assert _passed(service.client(max_retries=0), _feedback) == 1


def test_jobs_of_improve(service: Service, client: OpenAI) -> None:
    plan, path = _plan(client), f"/students/{_student(client)}/improve"
    with quota(service, max_queued_jobs=count(service, "fine_tuning_jobs", WAITING) + 1):
        made = _post(client, path, plan)
        assert made["coach_session"] is None
        refused(lambda: _post(client, path, plan), "queued_jobs")
        client.fine_tuning.jobs.cancel(made["job"]["id"])
        _post(client, path, plan)
