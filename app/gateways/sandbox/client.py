"""Sends programs to the sandbox's runner over its Unix socket, each over a connection of its own.

Promises: waits up to `patience_s` for a runner that restarts; sends a program again after a crash
of the runner, because a program has no side effects; gives up after `SILENCE_S` without a byte
from the runner. Must not know the purpose of programs.
"""

import asyncio
import time
from pathlib import Path
from typing import Any, Final, Self

from app.domain.sandbox.layers import ProtectionLevel
from app.domain.sandbox.programs import MAX_PROGRAM, MAX_REPLY, Program, ProgramOutcome
from app.gateways.sandbox.frames import (
    KEEP_ALIVE,
    SILENCE_S,
    BadFrame,
    read_object,
    socket_address,
    to_frame,
)
from app.gateways.sandbox.sandbox import ProgramTooLarge, SandboxUnavailable, SharedSandbox
from app.settings.settings import Settings

PATIENCE_S: Final = 30.0
_FIRST_DELAY_S: Final = 0.05
_LONGEST_DELAY_S: Final = 2.0
_MAX_ANSWER: Final = 7 * MAX_REPLY
"""Largest reply as text within JSON, where one byte becomes six at most."""


class UnixSandbox:
    """Implements `Sandbox` and `SharedSandbox`."""

    def __init__(
        self,
        socket: Path,
        *,
        organization_id: str = "",
        project_id: str = "",
        patience_s: float = PATIENCE_S,
        silence_s: float = SILENCE_S,
        wait_s: float | None = None,
    ) -> None:
        """`wait_s` limits a program's wait for its start; `None`: as long as the runner allows."""
        self._socket = socket
        self._organization_id = organization_id
        self._project_id = project_id
        self._patience_s = patience_s
        self._silence_s = silence_s
        self._wait_s = wait_s

    def for_project(self, organization_id: str, project_id: str) -> Self:
        return type(self)(
            self._socket,
            organization_id=organization_id,
            project_id=project_id,
            patience_s=self._patience_s,
            silence_s=self._silence_s,
            wait_s=self._wait_s,
        )

    async def run(self, program: Program) -> ProgramOutcome:
        # On a thread: the arguments may be long, and other calls wait for this loop.
        body = await asyncio.to_thread(lambda: to_frame(program.to_json()))
        if len(body) > MAX_PROGRAM:
            raise ProgramTooLarge(f"{len(body)} bytes of JSON: the limit is {MAX_PROGRAM}")
        header = to_frame(
            {
                "op": "run",
                "organization": self._organization_id,
                "project": self._project_id,
                "wait_s": self._wait_s,
            }
        )
        until, delay_s = time.monotonic() + self._patience_s, _FIRST_DELAY_S
        while True:
            try:
                return ProgramOutcome.read(await self._exchange(header + body))
            except SandboxUnavailable:
                if time.monotonic() + delay_s > until:
                    raise
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, _LONGEST_DELAY_S)

    async def level(self) -> ProtectionLevel:
        answer = await self._exchange(to_frame({"op": "level"}))
        return ProtectionLevel(tuple(answer["layers"]), tuple(answer["modules"]))

    async def _exchange(self, question: bytes) -> dict[str, Any]:
        try:
            answer = await self._answer(question)
        except TimeoutError:
            problem = f"has sent no keep-alive for {self._silence_s:g} s"
            raise SandboxUnavailable(problem) from None
        except (OSError, BadFrame):
            raise SandboxUnavailable("does not answer") from None
        if "failure" in answer:
            raise SandboxUnavailable(str(answer["failure"]))
        return answer

    async def _answer(self, question: bytes) -> dict[str, Any]:
        with socket_address(self._socket) as address:
            async with asyncio.timeout(self._silence_s):
                reader, writer = await asyncio.open_unix_connection(address)
        try:
            writer.write(question)  # no `drain`: the runner reads a program when it has a slot
            while True:
                async with asyncio.timeout(self._silence_s):
                    answer = await read_object(reader, limit=_MAX_ANSWER)
                if answer != KEEP_ALIVE:
                    return answer
        finally:
            writer.transport.abort()  # `close` would wait for a runner that reads no more


def build_sandbox(
    settings: Settings, *, patience_s: float = PATIENCE_S, wait_s: float | None = None
) -> SharedSandbox:
    return UnixSandbox(settings.sandbox_socket, patience_s=patience_s, wait_s=wait_s)
