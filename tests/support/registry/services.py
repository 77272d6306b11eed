"""Services of the registry without a database behind them."""

from typing import Any

from app.kit.errors import NotFound
from app.models.service import JudgeModels


class _NoModels:
    async def get(self, name: str) -> Any:
        raise NotFound(name)


def no_judges() -> JudgeModels:
    """Returns the judges of a project without models."""
    return JudgeModels(_NoModels(), ())  # type: ignore[arg-type]  # a twin with the method that is reached
