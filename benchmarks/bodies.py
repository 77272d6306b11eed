"""Measures the cost of hostile requests: one case at a time on a socket of the real service.

For every case: the answer's status, the milliseconds until its first byte after the last byte was
sent (or until the server answered early), the growth of the process's peak memory, and the longest
stall of its event loop. Prints a table and a JSON line.

    python benchmarks/bodies.py [--repeats 3]
"""

import argparse
import gzip
import json
import select
import socket
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.api_process import ApiProcess, api_process  # noqa: E402 - needs the path above
from tests.support.web.corpora import FORMS, JSON_BODIES, RANGES  # noqa: E402 - as above

Pieces = Callable[[ApiProcess], Iterator[bytes]]
JOBS, FILES = "POST /v1/fine_tuning/jobs HTTP/1.1", "POST /v1/files HTTP/1.1"
_PIECE = 1 << 16
_FULL = (
    b'{"model": "none", "training_file": "f", "validation_file": "f", "method":'
    b' {"type": "reinforcement", "reinforcement": {"grader": {"x": %b}}}}'
)


def head(api: ApiProcess, line: str, *headers: str) -> bytes:
    lines = [line, "Host: x", f"Authorization: Bearer {api.key}", *headers, "", ""]
    return "\r\n".join(lines).encode()


def json_case(body: bytes) -> Pieces:
    def pieces(api: ApiProcess) -> Iterator[bytes]:
        kind = "Content-Type: application/json"
        yield head(api, JOBS, kind, f"Content-Length: {len(body)}") + body

    return pieces


def form_case(name: str) -> Pieces:
    form = FORMS[name]("file")

    def pieces(api: ApiProcess) -> Iterator[bytes]:
        kind = f"Content-Type: {form.content_type}"
        yield head(api, FILES, kind, "Transfer-Encoding: chunked")
        for chunk in form.chunks():
            yield b"%x\r\n%b\r\n" % (len(chunk), chunk) if chunk else b""
        yield b"0\r\n\r\n"

    return pieces


def range_case(value: str, file_id: str) -> Pieces:
    line = f"GET /v1/files/{file_id}/content HTTP/1.1"
    return lambda api: iter([head(api, line, f"Range: {value}")])


def endless(opening: str, *headers: str, piece: bytes, times: int) -> Pieces:
    def pieces(api: ApiProcess) -> Iterator[bytes]:
        yield head(api, opening, *headers) if headers else opening.encode()
        for _ in range(times):
            yield piece

    return pieces


def cases(file_id: str) -> dict[str, Pieces]:
    bomb = gzip.compress(bytes(100 << 20))
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    zipped = ("Content-Encoding: gzip", f"Content-Length: {len(bomb)}")
    chunked = "Transfer-Encoding: chunked"
    return {
        **{f"json: {name}": json_case(body) for name, body in JSON_BODIES.items()},
        "json: 100 GB announced": endless(JOBS, f"Content-Length: {10**11}", piece=b"", times=0),
        "json: 200 MB in chunks": endless(JOBS, chunked, piece=chunk, times=200),
        "json: 24,900 values, let through": json_case(_FULL % (b"[" + b"[]," * 24_900 + b"0]")),
        "json: 4 MB of text, let through": json_case(_FULL % (b'"' + b"x\\n" * 1_300_000 + b'"')),
        "json: compressed": endless(JOBS, *zipped, piece=bomb, times=1),
        **{f"form: {name}": form_case(name) for name in FORMS},
        **{f"range: {name}": range_case(value, file_id) for name, value in RANGES.items()},
        "http: endless path": endless("GET /", piece=b"x" * (1 << 20), times=64),
        "http: endless header": endless("GET / HTTP/1.1\r\nA: ", piece=b"x" * (1 << 20), times=64),
        "http: endless headers": endless(
            "GET / HTTP/1.1\r\n", piece=b"A: b\r\n" * 100_000, times=64
        ),
        "http: endless trailers": endless(
            JOBS, chunked, piece=b"0\r\n" + b"A: b\r\n" * 100_000, times=64
        ),
        "http: no HTTP": endless("\x16\x03\x01", piece=b"\x00" * 100, times=1),
        "http: path without a slash": endless("GET @x HTTP/1.1\r\n\r\n", piece=b"", times=0),
        "http: Host with a path": endless(
            "GET /v1/models HTTP/1.1\r\nHost: a/?x=\r\n\r\n", piece=b"", times=0
        ),
    }


def run(api: ApiProcess, pieces: Pieces) -> tuple[int, float]:
    """Returns the status, and the milliseconds between the last sent byte and the first byte of the
    answer.
    """
    with socket.create_connection(("127.0.0.1", api.port), timeout=60) as connection:
        sent = time.perf_counter()
        try:
            for piece in pieces(api):
                for start in range(0, len(piece), _PIECE):
                    if select.select([connection], [], [], 0)[0]:
                        break
                    sent = time.perf_counter()
                    connection.sendall(piece[start : start + _PIECE])
        except (BrokenPipeError, ConnectionResetError):
            pass  # it answered and hung up
        line = connection.recv(65536)
        return int(line.split()[1]), 1000 * (time.perf_counter() - sent)


def upload(api: ApiProcess) -> str:
    content = b'{"messages": []}\n' * 100
    body = b'--bb\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nfine-tune\r\n'
    body += b'--bb\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    body += content + b"\r\n--bb--\r\n"
    kind = "Content-Type: multipart/form-data; boundary=bb"
    request = head(api, FILES, kind, f"Content-Length: {len(body)}", "Connection: close") + body
    with socket.create_connection(("127.0.0.1", api.port)) as connection:
        connection.sendall(request)
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    return str(json.loads(reply.partition(b"\r\n\r\n")[2])["id"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    rows = []
    with api_process() as api:
        for name, pieces in cases(upload(api)).items():
            measured = []
            for _ in range(repeats):
                held = api.reset()
                status, took_ms = run(api, pieces)
                growth = (api.status_kib("VmHWM") - held) / 1024
                measured.append((status, took_ms, growth, api.lag_ms()))
            statuses, times, growths, stalls = zip(*measured, strict=True)
            assert len(set(statuses)) == 1, name
            row = {"case": name, "status": statuses[0], "ms": round(statistics.median(times), 1)}
            rows.append(
                row
                | {
                    "growth_mb": round(max(growths), 1),
                    "stall_ms": round(statistics.median(stalls), 1),
                }
            )
    print(f"{'case':44}{'status':>7}{'ms':>9}{'memory +MB':>12}{'loop stall ms':>15}")
    for row in rows:
        values = (row["case"], row["status"], row["ms"], row["growth_mb"], row["stall_ms"])
        print("{:44}{:>7}{:>9}{:>12}{:>15}".format(*values))
    worst = {key: max(row[key] for row in rows) for key in ("ms", "growth_mb", "stall_ms")}
    print(json.dumps({"worst": worst, "rows": rows}))


if __name__ == "__main__":
    main()
