"""The records agent under other names: rows that show renamed tools, and a server that maps their
calls to the agent's own tools.

A call of a tool that stands for none, and an argument that the schema does not have, get a name
that the agent does not know, so that it answers with its own error.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
from typing_extensions import override

from benchmarks.tool_namings import NAMINGS, Naming
from examples.records_agent.dataset import make_rows, write_rows
from examples.records_agent.records import build_catalogue


def naming_of(title: str) -> Naming:
    """Returns the naming with this title. Raises `SystemExit` with all titles for another one."""
    found = next((each for each in NAMINGS if each.title == title), None)
    if found is None:
        titles = ", ".join(repr(each.title) for each in NAMINGS)
        raise SystemExit(f"There is no naming '{title}'; there are {titles}.")
    return found


def write_renamed(
    directory: Path, naming: Naming, *, train: int, valid: int, seed: int
) -> tuple[Path, Path]:
    """Writes the files of a job whose rows show the tools of a naming, and returns their paths."""
    catalogue, paths = build_catalogue(), (directory / "train.jsonl", directory / "valid.jsonl")
    system = [{"role": "system", "content": naming.system}] if naming.system else []
    shown = [tool.schema() for tool in naming.tools]

    def renamed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | {"tools": shown, "messages": [*system, *row["messages"]]} for row in rows]

    write_rows(paths[0], renamed(make_rows(catalogue, "train", train, seed=seed)))
    write_rows(paths[1], renamed(make_rows(catalogue, "validation", valid, seed=seed)))
    return paths


def own_call(naming: Naming, call: dict[str, Any]) -> dict[str, Any]:
    """Returns a call of the records agent's own tool."""
    tool = next((each for each in naming.tools if each.name == call["name"]), None)
    if tool is None or not tool.stands_for:
        return call | {"name": f"not {call['name']}"}
    usual = dict(zip(tool.parameters, tool.usual, strict=True))
    given = json.loads(call["arguments"])
    own = {usual.get(name, f"not {name}"): value for name, value in given.items()}
    return call | {"name": tool.stands_for, "arguments": json.dumps(own)}


@contextmanager
def renamed_agent(naming: Naming, endpoint: str) -> Iterator[str]:
    """Runs a server in front of the records agent at `endpoint`, and yields its address, or that of
    the agent for its own names.
    """
    if naming is NAMINGS[0]:
        yield endpoint
        return

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            names = "idempotency-key", "content-type"
            headers = {name: self.headers[name] for name in names if name in self.headers}
            reply = agent.post("/tools", json=own_call(naming, body), headers=headers)
            self.send_response(reply.status_code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply.content)))
            self.end_headers()
            self.wfile.write(reply.content)

        @override
        def log_message(self, format: str, *args: Any) -> None:
            """Writes nothing: a job makes thousands of calls."""

    # The agent closes idle connections, perhaps while one is taken for the next call.
    fresh = httpx.Limits(max_keepalive_connections=0)
    with (
        httpx.Client(base_url=endpoint, timeout=60, limits=fresh) as agent,
        ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server,
    ):
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
