"""Identifiers: random ones for rows, derived ones for everything a replay must name again.

A derived id is a pure function of a call's position in its job, so a resumed worker sends the same
id and the receiver can drop the duplicate.
"""

import hashlib
import secrets
import string
from dataclasses import dataclass
from typing import Final, Literal, NewType

ProjectId = NewType("ProjectId", str)
OrganizationId = NewType("OrganizationId", str)

Split = Literal["train", "valid", "test", "valid_greedy", "valid_base", "report"]
"""`valid_greedy`: held-out rows at temperature 0. `valid_base`: held-out rows under the base model
of a job that starts from another one. `report`: held-out rows sampled afresh once the published
step is chosen, under that step and, as step 0, under the model at the start.
"""
VALID_GREEDY: Final = "valid_greedy"
VALID_BASE: Final = "valid_base"
REPORT: Final = "report"

_ALPHABET = string.ascii_letters + string.digits
_TURN = "turn_"
_BEYOND = bytes(range(256 - 256 % len(_ALPHABET), 256))
_LETTER_OF = bytes(ord(_ALPHABET[byte % len(_ALPHABET)]) for byte in range(256))


def random_text(length: int) -> str:
    """Returns `length` characters of base 62 (5.95 bits each) from the system's secure source."""
    text = ""
    while len(text) < length:
        # One draw for all: a byte beyond the alphabet's last multiple is thrown away, not folded.
        drawn = secrets.token_bytes(2 * (length - len(text)))
        text += drawn.translate(_LETTER_OF, delete=_BEYOND).decode()
    return text[:length]


def new_id(prefix: str) -> str:
    """Returns a row id in the hosted style, e.g. `ftjob-3aX…`: unguessable, never reused."""
    return f"{prefix}{random_text(24)}"


def _trace_id(text: str) -> str:
    digest = _digest("trace", text)
    return f"trace_{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"


def _digest(*parts: object) -> str:
    text = "\x1f".join(str(part) for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class GroupKey:
    job_id: str
    split: Split
    step: int
    prompt_index: int
    """Row number in the split's file."""
    attempt: int = 0
    """Number of times that a scheduler requeued this prompt of this step."""

    def samples(self, count: int) -> "list[SampleKey]":
        return [
            SampleKey(self.job_id, self.split, self.step, self.prompt_index, sample, self.attempt)
            for sample in range(count)
        ]

    @property
    def trace_id(self) -> str:
        """The id that a judge of the whole group receives; the rollouts have their own."""
        return _trace_id(self._text)

    def grade_id(self, grader: str) -> str:
        return f"grade_{_digest('group', self._text, grader)[:24]}"

    def environment_seed(self, job_seed: int) -> int:
        """Returns the seed of an HTTP environment, uniform in 0 … 2**31 - 1: the same for all
        rollouts of a group, which are compared, and for all validations of a held-out row.
        """
        occasion = f"train/{self.step}" if self.split == "train" else "held out"
        digest = _digest("environment seed", job_seed, occasion, self.prompt_index)
        return int(digest[:8], 16) & 0x7FFFFFFF

    @property
    def _text(self) -> str:
        return f"{self.job_id}/{self.split}/{self.step}/{self.prompt_index}/group/{self.attempt}"


@dataclass(frozen=True, slots=True)
class SampleKey:
    """Position of one rollout in its job: the identity that may be scored and trained once."""

    job_id: str
    split: Split
    step: int
    prompt_index: int
    sample_index: int
    """Position in the group, 0 … G-1."""
    attempt: int = 0

    @property
    def group(self) -> GroupKey:
        return GroupKey(self.job_id, self.split, self.step, self.prompt_index, self.attempt)

    @property
    def text(self) -> str:
        return f"{self.job_id}/{self._position}"

    @property
    def _position(self) -> str:
        return f"{self.split}/{self.step}/{self.prompt_index}/{self.sample_index}/{self.attempt}"

    @property
    def trace_id(self) -> str:
        """The rollout id of the hosted contract: constant over a rollout, new for each rollout."""
        return _trace_id(self.text)

    def seed(self, job_seed: int, turn: int) -> int:
        """Returns the sampling seed of one turn, uniform in 0 … 2**31 - 1. It does not depend on
        the job's id, so a job that is created again with the same seed samples the same.
        """
        return int(_digest("seed", job_seed, self._position, turn)[:8], 16) & 0x7FFFFFFF

    def call_id(self, turn: int, call: int) -> str:
        """Returns the `call_…` id of a tool call; also the idempotency key of its request."""
        return f"call_{_digest('call', self.text, turn, call)[:24]}"

    def function_call_id(self, turn: int, call: int) -> str:
        """Returns the `fc_…` id of one tool call (not the `call_…` id, as in the hosted API)."""
        return f"fc_{_digest('fc', self.text, turn, call)[:32]}"

    def grade_id(self, grader: str) -> str:
        return f"grade_{_digest('grade', self.text, grader)[:24]}"

    def environment_id(self, call: str) -> str:
        """The idempotency and journal key of a call of an HTTP environment, such as `step/2`."""
        return f"episode_{_digest('environment', self.text, call)[:24]}"

    def turn_key(self, turn: int) -> str:
        return f"{_TURN}{_digest('turn', self.text, turn)[:24]}"


def is_turn_key(key: str) -> bool:
    """Returns true for the journal key of a sampled turn, not of a tool call or a grade."""
    return key.startswith(_TURN)
