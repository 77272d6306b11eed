"""Describes a committed step of a supervised or preference run in hosted names. Pure.

`valid_*` covers a few held-out rows, `full_valid_*` all of them; a value that was not measured is
left out. Token accuracy is the share of trained tokens that are the likeliest one. Pairs report
the accuracy by log-prob and by implicit reward instead (extensions of this project), since a
rejected answer is not meant to become likely.
"""

from collections.abc import Sequence
from typing import Any, Final

from app.domain.jobs.usage import Usage
from app.domain.rollouts import metrics as names
from workers.runs.steps.step_outcome import StepOutcome

_TRAIN: Final = {
    "train_loss": names.LOSS,
    "train_mean_token_accuracy": names.TOKEN_ACCURACY,
    "train_reward_accuracy": names.PREFERENCE_ACCURACY,
    "train_reward_margin": names.PREFERENCE_MARGIN,
}
_VALID: Final = {
    "valid_loss": names.BATCH_LOSS,
    "valid_mean_token_accuracy": names.BATCH_TOKEN_ACCURACY,
    "full_valid_loss": names.LOSS,
    "full_valid_mean_token_accuracy": names.TOKEN_ACCURACY,
    "full_valid_preference_accuracy": names.PREFERENCE_LOGPROB_ACCURACY,
    "full_valid_chosen_logprob": names.PREFERENCE_CHOSEN_LOGPROB,
    "full_valid_rejected_logprob": names.PREFERENCE_REJECTED_LOGPROB,
    "full_valid_reward_accuracy": names.PREFERENCE_ACCURACY,
    "full_valid_reward_margin": names.PREFERENCE_MARGIN,
}
_WORDS: Final = {
    "train_loss": "training loss",
    "valid_loss": "validation loss",
    "full_valid_loss": "full validation loss",
}


class SupervisedStepReport:
    nothing_trained = (
        "every update was left out, because its loss or gradient was not finite. Use a smaller "
        "learning_rate_multiplier"
    )

    def baseline(self, outcome: StepOutcome) -> Sequence[str]:
        return [f"Before training: {_words(self.checkpoint(outcome))}"]

    def validation(self, outcome: StepOutcome) -> str:
        return f"Step {outcome.step}: {_words(self.checkpoint(outcome))}"

    def step(self, outcome: StepOutcome, total_steps: int) -> tuple[str, dict[str, Any]]:
        values = self.checkpoint(outcome)
        message = f"Step {outcome.step}/{total_steps}: {_words(values)}"
        return message, {"step": outcome.step, "total_steps": total_steps, **values}

    def makes_checkpoint(self, outcome: StepOutcome) -> bool:
        """Every step that ends an epoch becomes a checkpoint: the engine serves those."""
        return outcome.adapter is not None and outcome.adapter.engine_name is not None

    def checkpoint(self, outcome: StepOutcome) -> dict[str, float]:
        sources = ((_TRAIN, outcome.train_values), (_VALID, outcome.valid_values))
        return {
            key: values[name]
            for keys, values in sources
            for key, name in keys.items()
            if name in values
        }

    def usage(self, outcome: StepOutcome) -> Usage:
        return Usage(
            update_time_s=outcome.trained.values.get(names.TIME_TRAINING, 0.0),
            evaluation_time_s=outcome.validation.seconds or 0.0,
            trained_tokens=outcome.trained_tokens,
        )


def _words(values: dict[str, float]) -> str:
    """Returns the losses for a message; never an empty text."""
    words = [f"{_WORDS[name]}={values[name]:.2f}" for name in _WORDS if name in values]
    return ", ".join(words) or "no finite loss"
