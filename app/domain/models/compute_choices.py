"""The ways in which a process can compute on a CPU, and the record of a choice among them.

Pure: the measurement is in `workers/compute/`.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import override

ComputeRole = Literal["engine", "trainer"]
Products = Literal["onednn", "torch"]
"""The library of matrix products: oneDNN, in the engine on packed weights, or torch's default."""


class ComputeChoice(BaseModel):
    """One way to compute. Its bits differ from those of every other one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    products: Products
    threads: int = Field(gt=0)

    @override
    def __str__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.products} products, {threads}"


class ComputeScore(BaseModel):
    """The measured time of the same work in one way."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    choice: ComputeChoice
    alone_s: float
    """Seconds on a machine that does nothing else."""
    beside_s: float
    """Seconds beside other processes that compute, one for each core."""
    won: float = Field(ge=0, le=1)
    """Share of the rounds in which it was faster than the assumed way."""

    @property
    def total_s(self) -> float:
        return self.alone_s + self.beside_s


class MeasuredChoice(BaseModel):
    """A choice as it is kept, with all that it was measured for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: ComputeRole
    machine: str
    """Processor, libraries and cores."""
    widths: tuple[int, int]
    """Width of the model and of its feed-forward layers."""
    choice: ComputeChoice
    scores: tuple[ComputeScore, ...]
    """Scores of all candidates, the assumed one first; none if the machine was too busy to measure:
    the assumed way is then kept.
    """

    @override
    def __str__(self) -> str:
        times = ", ".join(
            f"{score.choice} {1000 * score.alone_s:.1f} ms alone and "
            f"{1000 * score.beside_s:.1f} ms beside others"
            for score in self.scores
        )
        why = f"measured: {times}" if times else "assumed: the machine was too busy to measure"
        return f"{self.role} of width {self.widths[0]}: {self.choice} ({why})"
