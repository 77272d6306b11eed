"""Registered graders: configurations that jobs refer to by id."""

from typing import Any, ClassVar

from app.domain.graders import MultiGrader, SingleGrader
from app.domain.registry import Noun, Registered
from app.services.registry import RegistryService

GraderConfig = SingleGrader | MultiGrader


class RegisteredGraderService(RegistryService):
    noun: ClassVar[Noun] = Noun.GRADER
    part: ClassVar[str | None] = "grader"

    async def create(
        self, name: str, grader: GraderConfig, *, metadata: dict[str, str] | None
    ) -> Registered:
        """Raises `InvalidRequest` for a name that is taken or an address that is not allowed."""
        return await self._insert(name, _definition(grader), metadata=metadata)

    async def update(
        self,
        grader_id: str,
        *,
        name: str | None,
        grader: GraderConfig | None,
        metadata: dict[str, dict[str, str] | None],
    ) -> Registered:
        """A new version. `None` keeps what was; `metadata` is empty to keep it, else holds it."""
        before = await self.get(grader_id)
        return await self._append(
            before,
            before.name if name is None else name,
            before.definition if grader is None else _definition(grader),
            metadata=metadata.get("metadata", before.metadata),
        )


def _definition(grader: GraderConfig) -> dict[str, Any]:
    return grader.model_dump(mode="json")
