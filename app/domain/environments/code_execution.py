"""`code_execution`: functions to write, run against their tests in the sandbox."""

from typing import Any, Final, Literal

from pydantic import Field

from app.domain.environments.code_problems import MAX_LEVEL, code_task, problem_count
from app.domain.environments.options import EnvironmentOptions

_PROMPT: Final = (
    "Write a Python function `{signature}` that returns {returns}. Answer with one Markdown "
    "block of Python code."
)


class CodeExecutionEnvironment(EnvironmentOptions):
    """Functions to write; an answer earns the share of tests that its function passes."""

    type: Literal["code_execution"]
    level: int = Field(default=1, ge=1, le=MAX_LEVEL, strict=True)
    """Difficulty: 1 (one expression) to 3 (a loop with state)."""

    @property
    def problems(self) -> int:
        return problem_count(self.level)

    def row(self, number: int) -> dict[str, Any]:
        """Returns the row of a task, by its number."""
        task = code_task(number, self.level)
        prompt = _PROMPT.format(signature=task.signature, returns=task.returns)
        return {
            "messages": [{"role": "user", "content": prompt}],
            "function": task.function,
            "tests": task.tests,
        }

    def grader(self) -> dict[str, Any]:
        return {"type": "code_execution", "function": "{{item.function}}"}
