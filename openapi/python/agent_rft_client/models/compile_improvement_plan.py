from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.compile_improvement_plan_method_type_0 import check_compile_improvement_plan_method_type_0
from ..models.compile_improvement_plan_method_type_0 import CompileImprovementPlanMethodType0
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.compile_improvement_plan_curriculum_type_1 import CompileImprovementPlanCurriculumType1
  from ..models.compile_improvement_plan_environment_type_1 import CompileImprovementPlanEnvironmentType1
  from ..models.compile_improvement_plan_grader_type_1 import CompileImprovementPlanGraderType1
  from ..models.compile_improvement_plan_mcp_servers_type_0_item import CompileImprovementPlanMcpServersType0Item
  from ..models.compile_improvement_plan_metadata_type_0 import CompileImprovementPlanMetadataType0
  from ..models.compile_improvement_plan_tools_type_0_item import CompileImprovementPlanToolsType0Item
  from ..models.plan_knobs import PlanKnobs





T = TypeVar("T", bound="CompileImprovementPlan")



@_attrs_define
class CompileImprovementPlan:
    """ A plan to compile: a model, its data, what rates an answer, and the knobs.

        Attributes:
            model (str): Base model, or a tuned one (`ft:…`) to improve further.
            recipe (None | str | Unset): Id of the recipe to start from; it brings method, grader, knobs, and, without data
                of your own, its sample curriculum.
            method (CompileImprovementPlanMethodType0 | None | Unset): Training method; absent: the recipe's, or else
                reinforcement.
            training_file (None | str | Unset): Id of a file with training rows.
            validation_file (None | str | Unset): Id of a file with held-out rows for validations.
            curriculum (CompileImprovementPlanCurriculumType1 | None | str | Unset): Registered curriculum or inline rows,
                as in a job, instead of files.
            grader (CompileImprovementPlanGraderType1 | None | str | Unset): Grader definition or reference, as in a job;
                absent: the environment's, or else the recipe's.
            tools (list[CompileImprovementPlanToolsType0Item] | None | Unset): Tools that the service calls, as in a job.
            mcp_servers (list[CompileImprovementPlanMcpServersType0Item] | None | Unset): Servers of tools, as in a job.
            environment (CompileImprovementPlanEnvironmentType1 | None | str | Unset): Environment of the episodes, as in a
                job.
            knobs (None | PlanKnobs | Unset): Knob positions; absent ones are the recipe's, or else the middle.
            seed (int | None | Unset): Seed that the job gets; absent: chosen when it is created.
            suffix (None | str | Unset): Part of the tuned model's name, for the job.
            metadata (CompileImprovementPlanMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the
                service does not read them.
     """

    model: str
    recipe: None | str | Unset = UNSET
    method: CompileImprovementPlanMethodType0 | None | Unset = UNSET
    training_file: None | str | Unset = UNSET
    validation_file: None | str | Unset = UNSET
    curriculum: CompileImprovementPlanCurriculumType1 | None | str | Unset = UNSET
    grader: CompileImprovementPlanGraderType1 | None | str | Unset = UNSET
    tools: list[CompileImprovementPlanToolsType0Item] | None | Unset = UNSET
    mcp_servers: list[CompileImprovementPlanMcpServersType0Item] | None | Unset = UNSET
    environment: CompileImprovementPlanEnvironmentType1 | None | str | Unset = UNSET
    knobs: None | PlanKnobs | Unset = UNSET
    seed: int | None | Unset = UNSET
    suffix: None | str | Unset = UNSET
    metadata: CompileImprovementPlanMetadataType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.compile_improvement_plan_curriculum_type_1 import CompileImprovementPlanCurriculumType1 # noqa: PLC0415
        from ..models.compile_improvement_plan_environment_type_1 import CompileImprovementPlanEnvironmentType1 # noqa: PLC0415
        from ..models.compile_improvement_plan_grader_type_1 import CompileImprovementPlanGraderType1 # noqa: PLC0415
        from ..models.compile_improvement_plan_mcp_servers_type_0_item import CompileImprovementPlanMcpServersType0Item # noqa: PLC0415
        from ..models.compile_improvement_plan_metadata_type_0 import CompileImprovementPlanMetadataType0 # noqa: PLC0415
        from ..models.compile_improvement_plan_tools_type_0_item import CompileImprovementPlanToolsType0Item # noqa: PLC0415
        from ..models.plan_knobs import PlanKnobs # noqa: PLC0415
        model = self.model

        recipe: None | str | Unset
        if isinstance(self.recipe, Unset):
            recipe = UNSET
        else:
            recipe = self.recipe

        method: None | str | Unset
        if isinstance(self.method, Unset):
            method = UNSET
        elif isinstance(self.method, str):
            method = self.method
        else:
            method = self.method

        training_file: None | str | Unset
        if isinstance(self.training_file, Unset):
            training_file = UNSET
        else:
            training_file = self.training_file

        validation_file: None | str | Unset
        if isinstance(self.validation_file, Unset):
            validation_file = UNSET
        else:
            validation_file = self.validation_file

        curriculum: dict[str, Any] | None | str | Unset
        if isinstance(self.curriculum, Unset):
            curriculum = UNSET
        elif isinstance(self.curriculum, CompileImprovementPlanCurriculumType1):
            curriculum = self.curriculum.to_dict()
        else:
            curriculum = self.curriculum

        grader: dict[str, Any] | None | str | Unset
        if isinstance(self.grader, Unset):
            grader = UNSET
        elif isinstance(self.grader, CompileImprovementPlanGraderType1):
            grader = self.grader.to_dict()
        else:
            grader = self.grader

        tools: list[dict[str, Any]] | None | Unset
        if isinstance(self.tools, Unset):
            tools = UNSET
        elif isinstance(self.tools, list):
            tools = []
            for tools_type_0_item_data in self.tools:
                tools_type_0_item = tools_type_0_item_data.to_dict()
                tools.append(tools_type_0_item)


        else:
            tools = self.tools

        mcp_servers: list[dict[str, Any]] | None | Unset
        if isinstance(self.mcp_servers, Unset):
            mcp_servers = UNSET
        elif isinstance(self.mcp_servers, list):
            mcp_servers = []
            for mcp_servers_type_0_item_data in self.mcp_servers:
                mcp_servers_type_0_item = mcp_servers_type_0_item_data.to_dict()
                mcp_servers.append(mcp_servers_type_0_item)


        else:
            mcp_servers = self.mcp_servers

        environment: dict[str, Any] | None | str | Unset
        if isinstance(self.environment, Unset):
            environment = UNSET
        elif isinstance(self.environment, CompileImprovementPlanEnvironmentType1):
            environment = self.environment.to_dict()
        else:
            environment = self.environment

        knobs: dict[str, Any] | None | Unset
        if isinstance(self.knobs, Unset):
            knobs = UNSET
        elif isinstance(self.knobs, PlanKnobs):
            knobs = self.knobs.to_dict()
        else:
            knobs = self.knobs

        seed: int | None | Unset
        if isinstance(self.seed, Unset):
            seed = UNSET
        else:
            seed = self.seed

        suffix: None | str | Unset
        if isinstance(self.suffix, Unset):
            suffix = UNSET
        else:
            suffix = self.suffix

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CompileImprovementPlanMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "model": model,
        })
        if recipe is not UNSET:
            field_dict["recipe"] = recipe
        if method is not UNSET:
            field_dict["method"] = method
        if training_file is not UNSET:
            field_dict["training_file"] = training_file
        if validation_file is not UNSET:
            field_dict["validation_file"] = validation_file
        if curriculum is not UNSET:
            field_dict["curriculum"] = curriculum
        if grader is not UNSET:
            field_dict["grader"] = grader
        if tools is not UNSET:
            field_dict["tools"] = tools
        if mcp_servers is not UNSET:
            field_dict["mcp_servers"] = mcp_servers
        if environment is not UNSET:
            field_dict["environment"] = environment
        if knobs is not UNSET:
            field_dict["knobs"] = knobs
        if seed is not UNSET:
            field_dict["seed"] = seed
        if suffix is not UNSET:
            field_dict["suffix"] = suffix
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.compile_improvement_plan_curriculum_type_1 import CompileImprovementPlanCurriculumType1 # noqa: PLC0415
        from ..models.compile_improvement_plan_environment_type_1 import CompileImprovementPlanEnvironmentType1 # noqa: PLC0415
        from ..models.compile_improvement_plan_grader_type_1 import CompileImprovementPlanGraderType1 # noqa: PLC0415
        from ..models.compile_improvement_plan_mcp_servers_type_0_item import CompileImprovementPlanMcpServersType0Item # noqa: PLC0415
        from ..models.compile_improvement_plan_metadata_type_0 import CompileImprovementPlanMetadataType0 # noqa: PLC0415
        from ..models.compile_improvement_plan_tools_type_0_item import CompileImprovementPlanToolsType0Item # noqa: PLC0415
        from ..models.plan_knobs import PlanKnobs # noqa: PLC0415
        d = dict(src_dict)
        model = d.pop("model")

        def _parse_recipe(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        recipe = _parse_recipe(d.pop("recipe", UNSET))


        def _parse_method(data: object) -> CompileImprovementPlanMethodType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                method_type_0 = check_compile_improvement_plan_method_type_0(data)



                return method_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CompileImprovementPlanMethodType0 | None | Unset, data)

        method = _parse_method(d.pop("method", UNSET))


        def _parse_training_file(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        training_file = _parse_training_file(d.pop("training_file", UNSET))


        def _parse_validation_file(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        validation_file = _parse_validation_file(d.pop("validation_file", UNSET))


        def _parse_curriculum(data: object) -> CompileImprovementPlanCurriculumType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                curriculum_type_1 = CompileImprovementPlanCurriculumType1.from_dict(data)



                return curriculum_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CompileImprovementPlanCurriculumType1 | None | str | Unset, data)

        curriculum = _parse_curriculum(d.pop("curriculum", UNSET))


        def _parse_grader(data: object) -> CompileImprovementPlanGraderType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_1 = CompileImprovementPlanGraderType1.from_dict(data)



                return grader_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CompileImprovementPlanGraderType1 | None | str | Unset, data)

        grader = _parse_grader(d.pop("grader", UNSET))


        def _parse_tools(data: object) -> list[CompileImprovementPlanToolsType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tools_type_0 = []
                _tools_type_0 = data
                for tools_type_0_item_data in (_tools_type_0):
                    tools_type_0_item = CompileImprovementPlanToolsType0Item.from_dict(tools_type_0_item_data)



                    tools_type_0.append(tools_type_0_item)

                return tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CompileImprovementPlanToolsType0Item] | None | Unset, data)

        tools = _parse_tools(d.pop("tools", UNSET))


        def _parse_mcp_servers(data: object) -> list[CompileImprovementPlanMcpServersType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                mcp_servers_type_0 = []
                _mcp_servers_type_0 = data
                for mcp_servers_type_0_item_data in (_mcp_servers_type_0):
                    mcp_servers_type_0_item = CompileImprovementPlanMcpServersType0Item.from_dict(mcp_servers_type_0_item_data)



                    mcp_servers_type_0.append(mcp_servers_type_0_item)

                return mcp_servers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CompileImprovementPlanMcpServersType0Item] | None | Unset, data)

        mcp_servers = _parse_mcp_servers(d.pop("mcp_servers", UNSET))


        def _parse_environment(data: object) -> CompileImprovementPlanEnvironmentType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                environment_type_1 = CompileImprovementPlanEnvironmentType1.from_dict(data)



                return environment_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CompileImprovementPlanEnvironmentType1 | None | str | Unset, data)

        environment = _parse_environment(d.pop("environment", UNSET))


        def _parse_knobs(data: object) -> None | PlanKnobs | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                knobs_type_0 = PlanKnobs.from_dict(data)



                return knobs_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PlanKnobs | Unset, data)

        knobs = _parse_knobs(d.pop("knobs", UNSET))


        def _parse_seed(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        seed = _parse_seed(d.pop("seed", UNSET))


        def _parse_suffix(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        suffix = _parse_suffix(d.pop("suffix", UNSET))


        def _parse_metadata(data: object) -> CompileImprovementPlanMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CompileImprovementPlanMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CompileImprovementPlanMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        compile_improvement_plan = cls(
            model=model,
            recipe=recipe,
            method=method,
            training_file=training_file,
            validation_file=validation_file,
            curriculum=curriculum,
            grader=grader,
            tools=tools,
            mcp_servers=mcp_servers,
            environment=environment,
            knobs=knobs,
            seed=seed,
            suffix=suffix,
            metadata=metadata,
        )


        compile_improvement_plan.additional_properties = d
        return compile_improvement_plan

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
