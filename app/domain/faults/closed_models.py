"""The base of closed parts of a method: a misspelt key would silently change what they mean."""

from typing import Any

from pydantic import ConfigDict, model_validator

from app.domain.documents.field_descriptions import DescribedModel
from app.domain.faults.closed_objects import known_keys


class ClosedModel(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, sent: Any) -> Any:
        """Reports unknown keys with the nearest fields, before the missing fields that a
        misspelling causes.
        """
        return known_keys(sent, cls.model_fields)
