"""The interface of the sandbox, and its client: one frame there, one back."""

import asyncio
import json
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from app.tools.programs import MAX_PROGRAM, MAX_REPLY, Program, ProgramOutcome, ProtectionLevel

if TYPE_CHECKING:  # graders read this module, and the settings load much
    from app.settings import Settings


class SandboxUnavailable(Exception):
    """The sandbox itself failed, not the program, whose result is unknown."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the sandbox {problem}")
        self.problem = problem


class ProgramTooLarge(Exception):
    """A program with its arguments is longer than the sandbox accepts."""


class Sandbox(Protocol):
    """The sandbox of one project, which shares slots with its organization."""

    async def run(self, program: Program) -> ProgramOutcome:
        """Runs a program to its end or limit. Raises `SandboxUnavailable`, `ProgramTooLarge`."""


class SharedSandbox(Protocol):
    """The sandbox of a machine, which all projects share."""

    def for_project(self, organization_id: str, project_id: str) -> Sandbox: ...

    async def level(self) -> ProtectionLevel:
        """Returns the active layers. Raises `SandboxUnavailable`."""


MAX_HEADER: Final = 4096
KEEP_ALIVE: Final = {"alive": True}
KEEP_ALIVE_S: Final = 2.0
SILENCE_S: Final = 30.0
_LENGTH: Final = struct.Struct(">I")
_CHUNK: Final = 65_536
_LONG: Final = 16_384
_LONGEST_ADDRESS: Final = 100
"""Longest address in bytes; the kernel accepts 107."""


class BadFrame(Exception):
    """The peer sent invalid data instead of a frame."""


def pack(body: bytes) -> bytes:
    return _LENGTH.pack(len(body)) + body


def to_frame(value: Any) -> bytes:
    """Returns a frame of ASCII JSON, which can express every text, lone surrogates included."""
    return pack(json.dumps(value, separators=(",", ":")).encode())


async def read_frame(reader: asyncio.StreamReader, *, limit: int) -> bytes:
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if length > limit:
            raise BadFrame(f"a frame of {length} bytes exceeds the limit of {limit}")
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        raise BadFrame("the connection ended within a frame") from None


async def skip_frame(reader: asyncio.StreamReader, *, limit: int) -> None:
    try:
        (left,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if left > limit:
            raise BadFrame(f"a frame of {left} bytes exceeds the limit of {limit}")
        while left:
            left -= len(await reader.readexactly(min(left, _CHUNK)))
    except asyncio.IncompleteReadError:
        raise BadFrame("the connection ended within a frame") from None


async def read_object(reader: asyncio.StreamReader, *, limit: int) -> dict[str, Any]:
    frame = await read_frame(reader, limit=limit)
    try:
        # On a thread where it is long: other calls wait for this loop.
        long = len(frame) >= _LONG
        value = await asyncio.to_thread(json.loads, frame) if long else json.loads(frame)
    except (ValueError, RecursionError):
        raise BadFrame("a frame without JSON") from None
    if not isinstance(value, dict):
        raise BadFrame("a frame without an object")
    return value


@contextmanager
def socket_address(path: Path) -> Iterator[str]:
    """Yields an address for a socket's path of any length, valid within the context."""
    if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
        yield str(path)
        return
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)


PATIENCE_S: Final = 30.0
_FIRST_DELAY_S: Final = 0.05
_LONGEST_DELAY_S: Final = 2.0
_MAX_ANSWER: Final = 7 * MAX_REPLY
"""Largest reply as text within JSON, where one byte becomes six at most."""


@dataclass(frozen=True, slots=True)
class UnixSandbox:
    socket: Path
    organization_id: str = ""
    project_id: str = ""
    patience_s: float = PATIENCE_S
    silence_s: float = SILENCE_S
    wait_s: float | None = None
    """Limit of a program's wait for its start; `None`: as long as the runner allows."""

    def for_project(self, organization_id: str, project_id: str) -> Self:
        return replace(self, organization_id=organization_id, project_id=project_id)

    async def run(self, program: Program) -> ProgramOutcome:
        # On a thread: the arguments may be long, and other calls wait for this loop.
        body = await asyncio.to_thread(lambda: to_frame(program.to_json()))
        if len(body) > MAX_PROGRAM:
            raise ProgramTooLarge(f"{len(body)} bytes of JSON: the limit is {MAX_PROGRAM}")
        header = to_frame(
            {
                "op": "run",
                "organization": self.organization_id,
                "project": self.project_id,
                "wait_s": self.wait_s,
            }
        )
        until, delay_s = time.monotonic() + self.patience_s, _FIRST_DELAY_S
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
            problem = f"has sent no keep-alive for {self.silence_s:g} s"
            raise SandboxUnavailable(problem) from None
        except (OSError, BadFrame):
            raise SandboxUnavailable("does not answer") from None
        if "failure" in answer:
            raise SandboxUnavailable(str(answer["failure"]))
        return answer

    async def _answer(self, question: bytes) -> dict[str, Any]:
        with socket_address(self.socket) as address:
            async with asyncio.timeout(self.silence_s):
                reader, writer = await asyncio.open_unix_connection(address)
        try:
            writer.write(question)  # no `drain`: the runner reads a program when it has a slot
            while True:
                async with asyncio.timeout(self.silence_s):
                    answer = await read_object(reader, limit=_MAX_ANSWER)
                if answer != KEEP_ALIVE:
                    return answer
        finally:
            writer.transport.abort()  # `close` would wait for a runner that reads no more


def build_sandbox(
    settings: "Settings", *, patience_s: float = PATIENCE_S, wait_s: float | None = None
) -> SharedSandbox:
    return UnixSandbox(settings.sandbox_socket, patience_s=patience_s, wait_s=wait_s)
