"""The scripts of the pages for newcomers, as written, against a running installation."""

import re
from pathlib import Path
from typing import Any

import pytest

from examples.records_agent.dataset import write_dataset
from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import REPOSITORY, Installation


def blocks(page: str, label: str) -> list[str]:
    text = (REPOSITORY / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{label}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def test_the_quickstart_trains_a_model_that_answers(
    live: Installation, endpoints: Endpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As written, but for the number of rows and the address of the tools."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", live.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", live.api_key)
    script = replaced(
        "\n".join(blocks("quickstart", "python")),
        ("train=320, valid=100", "train=16, valid=10"),
        ("http://127.0.0.1:8900", endpoints.good),
    )
    names: dict[str, Any] = {}
    exec(script, names)  # noqa: S102 - a page of our own
    names["client"].close()
    assert names["job"].status == "succeeded", names["job"].error
    assert names["job"].fine_tuned_model.startswith("ft:tiny-agent")
    message = names["reply"].choices[0].message
    assert message.content or message.tool_calls


def test_the_script_that_moves_here_differs_in_its_address_its_key_and_its_model(
    live: Installation, endpoints: Endpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [shown] = blocks("moving", "diff")
    lines = shown.splitlines()
    assert [line[1:].strip().partition("(")[0] for line in lines if line[:1] == "-"] == [
        "client = OpenAI",
        'model="gpt-5-2025-08-07",',
    ]
    assert len([line for line in lines if line[:1] == "+"]) == 2
    moved = "\n".join(line[1:] for line in lines if line[:1] != "-")
    script = replaced(
        moved,
        ("http://127.0.0.1:8000/v1", live.base_url),
        ("art_project_key", live.api_key),
        ("https://tools.example/search", f"{endpoints.good}/tools"),
        ("https://tools.example/grade", f"{endpoints.good}/grade"),
    )
    monkeypatch.chdir(tmp_path)
    write_dataset(tmp_path, train=24, valid=10, seed=3)
    names: dict[str, Any] = {}
    exec(script, names)  # noqa: S102 - a page of our own
    with names["client"] as client:
        job = client.fine_tuning.jobs.cancel(names["job"].id)
    assert job.model.startswith("tiny-agent-")
    assert (job.seed, job.method.type) == (42, "reinforcement")
    assert job.method.reinforcement.tools[0]["headers"] == {"Authorization": "[redacted]"}
