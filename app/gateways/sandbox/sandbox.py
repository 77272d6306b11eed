"""The interface of the sandbox, and its twin for tests of its callers."""

from collections.abc import Callable
from typing import Protocol

from app.domain.sandbox.layers import LAYERS, ProtectionLevel
from app.domain.sandbox.programs import Program, ProgramOutcome


class SandboxUnavailable(Exception):
    """The sandbox itself failed, not the program, whose result is unknown."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the sandbox {problem}")
        self.problem = problem


class ProgramTooLarge(Exception):
    """A program with its arguments is longer than the sandbox accepts."""


class Sandbox(Protocol):
    """The sandbox of one project: its programs share the slots of that project and of its
    organization.
    """

    async def run(self, program: Program) -> ProgramOutcome:
        """Runs a program in a process of its own, to its end or to its limit.

        Raises `SandboxUnavailable` and `ProgramTooLarge`.
        """
        ...


class SharedSandbox(Protocol):
    """The sandbox of a machine, which all projects share."""

    def for_project(self, organization_id: str, project_id: str) -> Sandbox: ...

    async def level(self) -> ProtectionLevel:
        """Returns the active layers. Raises `SandboxUnavailable`."""
        ...


class InMemorySandbox:
    """Replies by a function and runs nothing. Implements `Sandbox` and `SharedSandbox`."""

    def __init__(self, answer: Callable[[Program], ProgramOutcome] | None = None) -> None:
        """Without `answer` the sandbox is unavailable."""
        self._answer = answer

    async def run(self, program: Program) -> ProgramOutcome:
        if self._answer is None:
            raise SandboxUnavailable("does not answer")
        return self._answer(program)

    def for_project(self, organization_id: str, project_id: str) -> Sandbox:
        del organization_id, project_id
        return self

    async def level(self) -> ProtectionLevel:
        if self._answer is None:
            raise SandboxUnavailable("does not answer")
        return ProtectionLevel(LAYERS, ())
