"""Asks the sandbox's runner over its Unix socket, a connection for each program.

Promises: a runner that restarts is waited for, up to `patience_s`; a program whose runner died is
asked for again, because it left nothing behind. Must not know what programs are for.
"""

import asyncio
import time
from pathlib import Path
from typing import Any, Final

from app.domain.sandbox import MAX_PROGRAM, MAX_REPLY, Ending, Level, Program
from app.gateways.sandbox.frames import (
    BadFrame,
    read_object,
    socket_address,
    to_frame,
)
from app.gateways.sandbox.sandbox import ProgramTooLarge, SandboxUnavailable
from app.settings.settings import Settings

PATIENCE_S: Final = 30.0
_FIRST_DELAY_S: Final = 0.05
_LONGEST_DELAY_S: Final = 2.0
_MAX_ANSWER: Final = 7 * MAX_REPLY
"""A reply as text within JSON: one byte becomes six at most."""


class UnixSandbox:
    """Implements `Sandbox`."""

    def __init__(self, socket: Path, *, patience_s: float = PATIENCE_S) -> None:
        self._socket = socket
        self._patience_s = patience_s

    async def run(self, program: Program) -> Ending:
        body = to_frame(program.to_json())
        if len(body) > MAX_PROGRAM:
            raise ProgramTooLarge(f"{len(body)} bytes of JSON, above {MAX_PROGRAM}")
        until, delay_s = time.monotonic() + self._patience_s, _FIRST_DELAY_S
        while True:
            try:
                return Ending.read(await self._ask(to_frame({"op": "run"}) + body))
            except SandboxUnavailable:
                if time.monotonic() + delay_s > until:
                    raise
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, _LONGEST_DELAY_S)

    async def level(self) -> Level:
        answer = await self._ask(to_frame({"op": "level"}))
        return Level(tuple(answer["layers"]), tuple(answer["modules"]))

    async def _ask(self, question: bytes) -> dict[str, Any]:
        try:
            with socket_address(self._socket) as address:
                reader, writer = await asyncio.open_unix_connection(address)
            try:
                writer.write(question)
                await writer.drain()
                answer = await read_object(reader, limit=_MAX_ANSWER)
            finally:
                writer.close()
        except (OSError, BadFrame):
            raise SandboxUnavailable("does not answer") from None
        if "failure" in answer:
            raise SandboxUnavailable(str(answer["failure"]))
        return answer


def build_sandbox(settings: Settings, *, patience_s: float = PATIENCE_S) -> UnixSandbox:
    return UnixSandbox(settings.sandbox_socket, patience_s=patience_s)
