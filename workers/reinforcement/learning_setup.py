"""Converts the learning options of a job to the arguments of trainer, loss and advantages. Pure.

Its inputs are resolved: no option is absent or `auto`.
"""

from dataclasses import replace
from pathlib import Path

from app.domain.methods.learning import Learning
from app.domain.methods.mismatch import MismatchOptions, Truncation
from app.domain.methods.objective import AUTO, ObjectiveOptions
from workers.learning.mismatch_config import MismatchConfig
from workers.learning.objective.reward_shaping import ShapingConfig
from workers.learning.trainer_options import TrainerOptions


def trainer_options(learning: Learning, *, start: Path | None = None) -> TrainerOptions:
    return TrainerOptions(
        start=start,
        loss=learning.loss.type,
        loss_options=learning.loss.options(),
        mismatch=mismatch_config(learning.mismatch),
        kl_coefficient=learning.objective.kl_coefficient,
    )


def mismatch_config(options: MismatchOptions) -> MismatchConfig:
    """Returns the correction of the mismatch. Raises `ValueError` if the truncation is still
    `auto`.
    """
    truncation, mask = options.truncation, options.sequence_mask
    if truncation == AUTO:
        raise ValueError("the truncation was not resolved")
    config = MismatchConfig(max_log_ratio=options.max_log_ratio)
    if isinstance(truncation, Truncation):
        config = replace(config, truncation=truncation.level, cap=truncation.cap)
    if mask is not None:
        config = replace(config, sequence_mask=mask.type, band=(mask.low, mask.high))
    return config


def shaping_config(options: ObjectiveOptions) -> ShapingConfig:
    """Returns the terms of the reward shaping. Raises `ValueError` if one is still `auto`."""
    budget, overlong = options.token_budget, options.overlong
    if budget == AUTO:
        raise ValueError("the token budget was not resolved")
    config = ShapingConfig(
        token_penalty=options.token_penalty,
        token_budget=budget,
        call_budget=options.call_budget,
        call_budget_penalty=options.call_budget_penalty,
        repeated_call_penalty=options.repeated_call_penalty,
        clamp_limit_stop=options.clamp_limit_stop,
    )
    if overlong is None:
        return config
    if overlong.buffer == AUTO:
        raise ValueError("the buffer was not resolved")
    return replace(
        config,
        overlong_limit=overlong.limit,
        overlong_buffer=overlong.buffer,
        overlong_penalty=overlong.penalty,
    )
