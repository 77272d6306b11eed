"""What a committed step of a supervised or preference run says of itself, in hosted names. Pure.

`valid_*` is of a few held-out rows, `full_valid_*` of all of them; what was not measured is left
out. Token accuracy is the share of learned tokens that are the likeliest one; of pairs, whose
rejected answers are not to become likely, rewards are told instead (names of ours).
"""

from typing import Any, Final

from app.domain.rollouts import metrics as names
from workers.runs.step_outcome import StepOutcome

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
    "full_valid_reward_accuracy": names.PREFERENCE_ACCURACY,
    "full_valid_reward_margin": names.PREFERENCE_MARGIN,
}
_WORDS: Final = {
    "train_loss": "training loss",
    "valid_loss": "validation loss",
    "full_valid_loss": "full validation loss",
}


class TextStepReport:
    def baseline(self, outcome: StepOutcome) -> str:
        return f"Before training: {_words(self.checkpoint(outcome))}"

    def validation(self, outcome: StepOutcome) -> str:
        return f"Step {outcome.step}: {_words(self.checkpoint(outcome))}"

    def step(self, outcome: StepOutcome, total_steps: int) -> tuple[str, dict[str, Any]]:
        values = self.checkpoint(outcome)
        message = f"Step {outcome.step}/{total_steps}: {_words(values)}"
        return message, {"step": outcome.step, "total_steps": total_steps, **values}

    def makes_checkpoint(self, outcome: StepOutcome) -> bool:
        """One for each epoch: the steps that the engine serves."""
        return outcome.engine_name is not None

    def checkpoint(self, outcome: StepOutcome) -> dict[str, float]:
        sources = ((_TRAIN, outcome.train_values), (_VALID, outcome.valid_values))
        return {
            told: values[name]
            for known, values in sources
            for told, name in known.items()
            if name in values
        }


def _words(values: dict[str, float]) -> str:
    return ", ".join(f"{_WORDS[name]}={values[name]:.2f}" for name in _WORDS if name in values)
