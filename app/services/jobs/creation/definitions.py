"""Looks up the definitions that the references of a create call name.

Owns the look-up of registered tools, graders, environments and curricula, and the files of inline
rows. Must not know if a job is created from them.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, assert_never

from app.domain.errors import WrongState
from app.domain.registry.curricula import CURRICULUM_SPLITS
from app.domain.registry.references import InlineCurriculum, RegisteredReference, SentCurriculum
from app.services.files.row_files import RowFiles
from app.services.jobs.creation.environment_files import EnvironmentFiles
from app.services.jobs.creation.grader_choices import GraderChoiceService
from app.services.registry.curricula import CurriculumService, inline_name
from app.services.registry.environments import EnvironmentService
from app.services.registry.graders import RegisteredGraderService
from app.services.registry.lookups import find_registered, id_parameter
from app.services.registry.registered_objects import RegistryService
from app.services.registry.tools import ToolService

METHOD: Final = "method.reinforcement"


class ReferenceServices(Protocol):
    """Builds the services that references need; most calls have none and build none."""

    def tools(self) -> ToolService: ...

    def graders(self) -> RegisteredGraderService: ...

    def curricula(self) -> CurriculumService: ...

    def row_files(self) -> RowFiles: ...

    def environments(self) -> EnvironmentService: ...

    def grader_choices(self) -> GraderChoiceService: ...

    def environment_files(self) -> EnvironmentFiles: ...


class RegisteredDefinitions:
    def __init__(self, services: ReferenceServices) -> None:
        self.services = services

    async def definitions(self, tools: Sequence[Any], grader: Any) -> tuple[list[Any], Any]:
        """Returns the tools and the grader with each reference replaced by its definition."""
        return [
            await self.definition(tool, self.services.tools, f"{METHOD}.tools[{index}]")
            for index, tool in enumerate(tools)
        ], await self.definition(grader, self.services.graders, f"{METHOD}.grader")

    async def definition(self, part: Any, build: Callable[[], RegistryService], param: str) -> Any:
        """Returns the definition that a reference names, any other part as it is; `build` builds
        the service of its noun.
        """
        if not isinstance(part, RegisteredReference):
            return part
        service = build()
        registered = await find_registered(part, service, param)
        try:
            definition = await service.usable(registered)
        except WrongState as error:
            id_param = id_parameter(part, service.noun, param)
            raise WrongState(error.message, param=id_param) from error
        return {**definition, "id": registered.id, "version": registered.version}

    async def files(self, source: SentCurriculum, made: list[str]) -> dict[str, str]:
        """Returns the id of each file by its parameter; inline rows are written as files."""
        match source:
            case RegisteredReference():
                registered = await find_registered(source, self.services.curricula(), "curriculum")
                parts = {split: registered.definition.get(split) for split in CURRICULUM_SPLITS}
                return {f"{split}_file": part["file_id"] for split, part in parts.items() if part}
            case InlineCurriculum():
                return await self._written(source, made)
            case _:
                assert_never(source)

    async def _written(self, source: InlineCurriculum, made: list[str]) -> dict[str, str]:
        files, row_files = dict[str, str](), self.services.row_files()
        rows = {"training": source.training, "validation": source.validation}
        for split in CURRICULUM_SPLITS:
            if rows[split]:
                file = await row_files.write(rows[split], inline_name(split))
                made.append(file.id)
                files[f"{split}_file"] = file.id
        return files
