"""A check of a contract test on the wire, whatever was tested."""

from typing import Self

from app.domain.documents.described import DescribedModel
from app.domain.tools.contract import CheckResult, CheckStatus


class ContractCheck(DescribedModel):
    name: str
    """Name of the check."""
    status: CheckStatus
    """Result of the check."""
    detail: str
    """The result in a sentence."""

    @classmethod
    def of(cls, check: CheckResult) -> Self:
        """Returns the check; its figures are left out where the schema has none."""
        named = {"name": check.name, "status": check.status, "detail": check.detail}
        return cls.model_validate({**check.data, **named})
