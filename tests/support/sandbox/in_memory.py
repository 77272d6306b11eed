"""A sandbox that replies by a function and runs nothing."""

from collections.abc import Callable

from app.tools.programs import LAYERS, Program, ProgramOutcome, ProtectionLevel
from app.tools.sandbox import Sandbox, SandboxUnavailable


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
