"""The arithmetic of a reinforcement run, fixed once its files are validated. Pure."""

from dataclasses import dataclass

from app.domain.methods.reinforcement import ResolvedHyperparameters


@dataclass(frozen=True, slots=True)
class Plan:
    hyperparameters: ResolvedHyperparameters
    train_rows: int

    @property
    def total_steps(self) -> int:
        return self.hyperparameters.total_steps

    def evaluates_after(self, step: int) -> bool:
        """Returns true at every `eval_interval` and after the last step."""
        return step == self.total_steps or step % self.hyperparameters.eval_interval == 0
