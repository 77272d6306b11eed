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

    def groups_before(self, step: int) -> int:
        """Returns the number of groups in all steps before `step`."""
        epochs, steps = divmod(step - 1, -(-self.train_rows // self.hyperparameters.batch_size))
        return epochs * self.train_rows + steps * self.hyperparameters.batch_size

    def evaluates_after(self, step: int) -> bool:
        """Returns true at every `eval_interval` and after the last step."""
        return step == self.total_steps or step % self.hyperparameters.eval_interval == 0
