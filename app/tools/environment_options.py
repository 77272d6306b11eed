"""Options of every built-in environment. Unknown keys are refused: a misspelt one changes the
tasks.
"""

import hashlib
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from app.kit.faults import ClosedModel
from app.kit.fields import CustomerUrl, SecretHeaders
from app.kit.texts import TOOL_NAME
from app.tools.tools import RateLimit

MIN_TASKS: Final = 10


def _enough_held_out(sent: Any) -> Any:
    if isinstance(sent, int) and not isinstance(sent, bool) and sent < MIN_TASKS:
        raise PydanticCustomError(
            "too_few_tasks",
            "a reinforcement job is validated on held-out tasks and cannot go without: it must be "
            "at least {least}",
            {"least": MIN_TASKS},
        )
    return sent


class EnvironmentOptions(ClosedModel):
    grader_options: ClassVar[frozenset[str]] = frozenset()

    seed: int = Field(default=0, ge=0, lt=2**63, strict=True)
    """Seed of the tasks: equal options and an equal seed give equal tasks."""
    training_tasks: int = Field(default=256, ge=MIN_TASKS, le=50_000, strict=True)
    """Number of tasks to train on."""
    validation_tasks: Annotated[int, BeforeValidator(_enough_held_out)] = Field(
        default=32, ge=MIN_TASKS, le=1000, strict=True
    )
    """Number of held-out tasks; none of them is a training task."""

    @property
    def problem_file(self) -> str | None:
        return None

    @property
    def missing_option(self) -> str | None:
        return None


_ROUNDS: Final = 4


def task_number(index: int, *, of: int, seed: int) -> int:
    """Returns the number of the problem at an index of the seeded order of `of` problems."""
    if not 0 <= index < of:
        raise ValueError(f"there is no index {index} among {of} problems")
    half_bits = max(1, ((of - 1).bit_length() + 1) // 2)
    number = index
    while True:
        number = _shuffled(number, half_bits=half_bits, seed=seed)
        if number < of:
            return number


def task_digits(number: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the mixed-radix digits of a problem's number: the choices that define it."""
    digits = []
    for size in sizes:
        number, digit = divmod(number, size)
        digits.append(digit)
    return tuple(digits)


def _shuffled(number: int, *, half_bits: int, seed: int) -> int:
    mask = (1 << half_bits) - 1
    left, right = number >> half_bits, number & mask
    for turn in range(_ROUNDS):
        left, right = right, left ^ (_mixed(right, turn, seed) & mask)
    return left << half_bits | right


def _mixed(value: int, turn: int, seed: int) -> int:
    text = f"{seed}:{turn}:{value}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=32).digest())


HTTP: Final = "http"


def is_absent(value: Any) -> bool:
    return value is None


class HttpEnvironmentSpec(ClosedModel):
    """An environment at a customer's address: `reset`, `step` and `close` are POSTed there. It
    offers the tools, answers each turn, and may give the reward.
    """

    grader_options: ClassVar[frozenset[str]] = frozenset()

    type: Literal["http"]
    name: str = Field(default="environment", pattern=TOOL_NAME)
    """Name in messages about lost rollouts."""
    url: CustomerUrl
    """Address that `reset`, `step` and `close` are POSTed to."""
    headers: SecretHeaders | None = None
    """Headers sent with every call; stored encrypted, shown as `[redacted]`."""
    rate_limit: RateLimit | None = None
    """Limit of requests per second."""
    id: str | None = Field(default=None, max_length=128, exclude_if=is_absent)
    """Id of the registered environment that it was copied from."""
    version: int | None = Field(default=None, strict=True, exclude_if=is_absent)
    """Version of that registered environment."""

    @property
    def missing_option(self) -> str | None:
        """Always `None`: the environment's grader needs no option."""
        return None

    def grader(self) -> dict[str, Any]:
        return {"type": "environment", "name": "environment"}
