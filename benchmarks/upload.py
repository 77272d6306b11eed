"""Measures the upload of a large training file: 100,000 rows, 200 MB, one form over plain HTTP.

The real service (uvicorn, Postgres, object store) beside a bare handler that only writes the bytes
to the same disk, in one run. Memory is the growth of the API process's peak over its earlier size.
One row more than the limit must be refused with its line. Prints a table and a JSON line.

    python benchmarks/upload.py [--rows 100000] [--megabytes 200] [--repeats 3]
"""

import argparse
import http.client
import json
import os
import random
import statistics
import string
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.api_process import (  # noqa: E402 - needs the path above
    ApiProcess,
    api_process,
    uvicorn_process,
)

BOUNDARY = "0123456789abcdef0123456789abcdef"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class UploadResult:
    seconds: float
    status: int
    reply: dict[str, Any]


def bare() -> Starlette:
    """Writes bytes durably to disk, as the only work of the peer."""

    async def write(request: Request) -> JSONResponse:
        size = 0
        with tempfile.NamedTemporaryFile(dir=os.environ["BENCH_DIR"]) as file:
            async for chunk in request.stream():
                size += file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        return JSONResponse({"bytes": size})

    async def well(_: Request) -> JSONResponse:
        return JSONResponse({})

    routes = [Route("/v1/files", write, methods=["POST"]), Route("/healthz", well)]
    return Starlette(routes=routes)


def write_rows(path: Path, rows: int, size: int) -> None:
    """Writes realistic rows: text with escapes, some nesting; equal in each run."""
    chance = random.Random(7)
    filler = "".join(chance.choices(string.ascii_letters + '  \n"é', k=1 << 16))
    with path.open("wb") as file:
        for number in range(rows):
            start = chance.randrange(1 << 15)
            reference = {"id": number, "facts": [{"value": n, "unit": "m"} for n in range(6)]}
            row = {"messages": [{"role": "user", "content": ""}], "reference": reference}
            missing = size // rows - len(json.dumps(row)) - 1
            text, budget = filler[start : start + missing], missing
            while len(json.dumps(text)) - 2 > budget:
                text = text[: len(text) - max(1, (len(json.dumps(text)) - 2 - budget) // 6)]
            row["messages"] = [{"role": "user", "content": text}]
            line = json.dumps(row)
            file.write(line.ljust(size // rows - 1).encode() + b"\n")


def send(port: int, key: str, path: Path, *, purpose_first: bool = True) -> UploadResult:
    def part(head: str) -> bytes:
        return f"--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode()

    purpose = part('name="purpose"') + b"fine-tune\r\n"
    opening = part('name="file"; filename="rows.jsonl"')
    ending = f"--{BOUNDARY}--\r\n".encode()
    before, after = (purpose + opening, b"\r\n") if purpose_first else (opening, b"\r\n" + purpose)
    length = len(before) + path.stat().st_size + len(after) + len(ending)

    def body() -> Iterator[bytes]:
        yield before
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block
        yield after + ending

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "Content-Length": str(length),
    }
    began = time.perf_counter()
    connection.request("POST", "/v1/files", body=body(), headers=headers)
    reply = connection.getresponse()
    content = json.loads(reply.read())
    seconds = time.perf_counter() - began
    connection.close()
    return UploadResult(seconds, reply.status, content)


def measure(api: ApiProcess, path: Path, repeats: int, *, purpose_first: bool) -> dict[str, Any]:
    sent, growth, lag = [], [], []
    for _ in range(repeats):
        held = api.reset()
        sent.append(send(api.port, api.key, path, purpose_first=purpose_first))
        growth.append((api.status_kib("VmHWM") - held) / 1024)
        lag.append(api.lag_ms())
        assert (sent[-1].status, sent[-1].reply["bytes"]) == (200, path.stat().st_size)
    return {**_seconds(sent), "growth_mb": round(max(growth), 1), "loop_lag_ms": round(max(lag), 1)}


def _seconds(sent: list[UploadResult]) -> dict[str, float]:
    taken = [upload.seconds for upload in sent]
    return {"seconds": round(statistics.median(taken), 2), "worst_seconds": round(max(taken), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with api_process() as api:
        path = api.directory / "rows.jsonl"
        write_rows(path, options.rows, options.megabytes * 1_000_000)
        results = {
            "service, first upload": measure(api, path, 1, purpose_first=True),
            "service, purpose first": measure(api, path, options.repeats, purpose_first=True),
            "service, purpose last": measure(api, path, options.repeats, purpose_first=False),
        }
        environment = {"BENCH_DIR": str(api.directory)}
        with uvicorn_process("benchmarks.upload:bare", environment) as (port, _):
            send(port, "", path)
            sent = [send(port, "", path) for _ in range(options.repeats)]
            results["bare handler to disk"] = _seconds(sent)
        with path.open("ab") as file:
            file.write(b'{"messages": []}\n')
        over = send(api.port, api.key, path)
        size = path.stat().st_size / 1e6
    print(f"{options.rows} rows, {size:.0f} MB, {options.repeats} uploads each")
    print(f"{'':26}{'median s':>10}{'worst s':>10}{'memory +MB':>12}{'loop lag ms':>13}")
    for name, row in results.items():
        extra = (row.get("growth_mb", ""), row.get("loop_lag_ms", ""))
        print(
            f"{name:26}{row['seconds']:>10}{row['worst_seconds']:>10}{extra[0]:>12}{extra[1]:>13}"
        )
    print(f"one row more: {over.status} {over.reply.get('error', {}).get('message')}")
    print(json.dumps({"results": results, "one_row_more": over.status}))


if __name__ == "__main__":
    main()
