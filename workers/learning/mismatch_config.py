"""Options of the correction of a mismatch between sampler and trainer; no tensors."""

from dataclasses import dataclass
from typing import Literal

from app.domain.methods.mismatch import MAX_LOG_RATIO


@dataclass(frozen=True, slots=True)
class MismatchConfig:
    """Options of `correct`; by default only the bound on log-ratios applies. Raises `ValueError`
    unless 0 ≤ low ≤ 1 ≤ high with low < high for the band, and for a cap or bound out of range.
    """

    truncation: Literal["token", "sequence"] | None = None
    cap: float = 2.0
    sequence_mask: Literal["geometric_mean", "product"] | None = None
    band: tuple[float, float] = (0.99, 1.01)
    max_log_ratio: float = MAX_LOG_RATIO

    def __post_init__(self) -> None:
        low, high = self.band
        if not 0 <= low <= 1 <= high or low == high:
            raise ValueError(
                "the band must contain 1, have two different bounds and not be negative"
            )
        if self.cap < 1:
            raise ValueError("cap must be at least 1")
        if not 0 < self.max_log_ratio <= MAX_LOG_RATIO:
            raise ValueError(f"max_log_ratio must be positive and at most {MAX_LOG_RATIO}")
