"""Commands against a running service, and what they print."""

import json
from dataclasses import dataclass
from subprocess import CompletedProcess
from typing import Any

from tests.support.cli.command_line import agent_rft
from tests.support.contract.service import ENDPOINT, ROW, Service

METHOD: dict[str, Any] = {
    "type": "reinforcement",
    "reinforcement": {
        "tools": [{"name": "search", "server_url": f"{ENDPOINT}/search"}],
        "grader": {"type": "endpoint", "url": f"{ENDPOINT}/grade"},
    },
}


def address_of(service: Service) -> dict[str, str]:
    """Returns the environment of a command that calls the service."""
    return {"AGENT_RFT_BASE_URL": service.api.base_url, "AGENT_RFT_API_KEY": service.api.key}


def new_job(service: Service, *, suffix: str = "cli") -> str:
    client = service.client()
    file = client.files.create(file=("rows.jsonl", ROW * 12), purpose="fine-tune")
    create: Any = client.fine_tuning.jobs.create
    job = create(
        model="tiny-agent",
        training_file=file.id,
        validation_file=file.id,
        suffix=suffix,
        method=METHOD,
    )
    return str(job.id)


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs commands against a service."""

    service: Service

    def run(self, *arguments: str, stdin: str = "", **environment: str) -> CompletedProcess[str]:
        named = {**address_of(self.service), **environment}
        return agent_rft(*arguments, stdin=stdin, **named)

    def text(self, *arguments: str, stdin: str = "") -> str:
        """Returns the output of a command that succeeds."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def envelope(self, *arguments: str, code: int = 0, stdin: str = "") -> dict[str, Any]:
        """Returns the one envelope that a command prints."""
        done = self.run(*arguments, "--json", stdin=stdin)
        assert done.returncode == code, done.stderr
        [line] = done.stdout.splitlines()
        read: dict[str, Any] = json.loads(line)
        assert list(read) == ["version", "command", "data", "has_more", "error"]
        assert (read["version"], read["command"]) == (1, " ".join(arguments[:2]))
        return read
