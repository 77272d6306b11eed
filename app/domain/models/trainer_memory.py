"""The settings of a trainer's memory: those of an installation, and those of a base model."""

from pydantic import BaseModel, ConfigDict, Field

from app.domain.models.models import BaseModelSpec


class TrainerMemory(BaseModel):
    """Values that a base model does not set for itself; `None` is the trainer's own default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    checkpointing: bool | None = None
    micro_batch_tokens: int | None = Field(default=None, gt=0)

    def of(self, spec: BaseModelSpec) -> "TrainerMemory":
        """Returns the values for one base model: its own ones, or else the installation's."""
        own = spec.checkpointing
        return TrainerMemory(
            checkpointing=self.checkpointing if own is None else own,
            micro_batch_tokens=spec.micro_batch_tokens or self.micro_batch_tokens,
        )
