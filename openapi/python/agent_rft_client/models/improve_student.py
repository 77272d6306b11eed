from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.improve_student_method_type_0 import check_improve_student_method_type_0
from ..models.improve_student_method_type_0 import ImproveStudentMethodType0
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.coach_choices import CoachChoices
  from ..models.improve_student_curriculum_type_1 import ImproveStudentCurriculumType1
  from ..models.improve_student_environment_type_1 import ImproveStudentEnvironmentType1
  from ..models.improve_student_grader_type_1 import ImproveStudentGraderType1
  from ..models.improve_student_mcp_servers_type_0_item import ImproveStudentMcpServersType0Item
  from ..models.improve_student_metadata_type_0 import ImproveStudentMetadataType0
  from ..models.improve_student_tools_type_0_item import ImproveStudentToolsType0Item
  from ..models.plan_knobs import PlanKnobs





T = TypeVar("T", bound="ImproveStudent")



@_attrs_define
class ImproveStudent:
    """ The improvement plan of a job that trains a student further, from the model that answers for
    it now, or of the jobs of a Coach session.

        Attributes:
            recipe (None | str | Unset): Id of the recipe to start from; it brings method, grader, knobs, and, without data
                of your own, its sample curriculum.
            method (ImproveStudentMethodType0 | None | Unset): Training method; absent: the recipe's, or else reinforcement.
            training_file (None | str | Unset): Id of a file with training rows.
            validation_file (None | str | Unset): Id of a file with held-out rows for validations.
            curriculum (ImproveStudentCurriculumType1 | None | str | Unset): Registered curriculum or inline rows, as in a
                job, instead of files.
            grader (ImproveStudentGraderType1 | None | str | Unset): Grader definition or reference, as in a job; absent:
                the environment's, or else the recipe's.
            tools (list[ImproveStudentToolsType0Item] | None | Unset): Tools that the service calls, as in a job.
            mcp_servers (list[ImproveStudentMcpServersType0Item] | None | Unset): Servers of tools, as in a job.
            environment (ImproveStudentEnvironmentType1 | None | str | Unset): Environment of the episodes, as in a job.
            knobs (None | PlanKnobs | Unset): Knob positions; absent ones are the recipe's, or else the middle.
            seed (int | None | Unset): Seed that the job gets; absent: chosen when it is created.
            suffix (None | str | Unset): Part of the tuned model's name, for the job.
            metadata (ImproveStudentMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the service
                does not read them.
            coach (CoachChoices | None | Unset): Options of a Coach session that makes the jobs, as in `POST
                /v1/coach_sessions`; `{}` has their defaults. Absent: one job.
     """

    recipe: None | str | Unset = UNSET
    method: ImproveStudentMethodType0 | None | Unset = UNSET
    training_file: None | str | Unset = UNSET
    validation_file: None | str | Unset = UNSET
    curriculum: ImproveStudentCurriculumType1 | None | str | Unset = UNSET
    grader: ImproveStudentGraderType1 | None | str | Unset = UNSET
    tools: list[ImproveStudentToolsType0Item] | None | Unset = UNSET
    mcp_servers: list[ImproveStudentMcpServersType0Item] | None | Unset = UNSET
    environment: ImproveStudentEnvironmentType1 | None | str | Unset = UNSET
    knobs: None | PlanKnobs | Unset = UNSET
    seed: int | None | Unset = UNSET
    suffix: None | str | Unset = UNSET
    metadata: ImproveStudentMetadataType0 | None | Unset = UNSET
    coach: CoachChoices | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.coach_choices import CoachChoices # noqa: PLC0415
        from ..models.improve_student_curriculum_type_1 import ImproveStudentCurriculumType1 # noqa: PLC0415
        from ..models.improve_student_environment_type_1 import ImproveStudentEnvironmentType1 # noqa: PLC0415
        from ..models.improve_student_grader_type_1 import ImproveStudentGraderType1 # noqa: PLC0415
        from ..models.improve_student_mcp_servers_type_0_item import ImproveStudentMcpServersType0Item # noqa: PLC0415
        from ..models.improve_student_metadata_type_0 import ImproveStudentMetadataType0 # noqa: PLC0415
        from ..models.improve_student_tools_type_0_item import ImproveStudentToolsType0Item # noqa: PLC0415
        from ..models.plan_knobs import PlanKnobs # noqa: PLC0415
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
        elif isinstance(self.curriculum, ImproveStudentCurriculumType1):
            curriculum = self.curriculum.to_dict()
        else:
            curriculum = self.curriculum

        grader: dict[str, Any] | None | str | Unset
        if isinstance(self.grader, Unset):
            grader = UNSET
        elif isinstance(self.grader, ImproveStudentGraderType1):
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
        elif isinstance(self.environment, ImproveStudentEnvironmentType1):
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
        elif isinstance(self.metadata, ImproveStudentMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        coach: dict[str, Any] | None | Unset
        if isinstance(self.coach, Unset):
            coach = UNSET
        elif isinstance(self.coach, CoachChoices):
            coach = self.coach.to_dict()
        else:
            coach = self.coach


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
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
        if coach is not UNSET:
            field_dict["coach"] = coach

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.coach_choices import CoachChoices # noqa: PLC0415
        from ..models.improve_student_curriculum_type_1 import ImproveStudentCurriculumType1 # noqa: PLC0415
        from ..models.improve_student_environment_type_1 import ImproveStudentEnvironmentType1 # noqa: PLC0415
        from ..models.improve_student_grader_type_1 import ImproveStudentGraderType1 # noqa: PLC0415
        from ..models.improve_student_mcp_servers_type_0_item import ImproveStudentMcpServersType0Item # noqa: PLC0415
        from ..models.improve_student_metadata_type_0 import ImproveStudentMetadataType0 # noqa: PLC0415
        from ..models.improve_student_tools_type_0_item import ImproveStudentToolsType0Item # noqa: PLC0415
        from ..models.plan_knobs import PlanKnobs # noqa: PLC0415
        d = dict(src_dict)
        def _parse_recipe(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        recipe = _parse_recipe(d.pop("recipe", UNSET))


        def _parse_method(data: object) -> ImproveStudentMethodType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                method_type_0 = check_improve_student_method_type_0(data)



                return method_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ImproveStudentMethodType0 | None | Unset, data)

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


        def _parse_curriculum(data: object) -> ImproveStudentCurriculumType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                curriculum_type_1 = ImproveStudentCurriculumType1.from_dict(data)



                return curriculum_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ImproveStudentCurriculumType1 | None | str | Unset, data)

        curriculum = _parse_curriculum(d.pop("curriculum", UNSET))


        def _parse_grader(data: object) -> ImproveStudentGraderType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_1 = ImproveStudentGraderType1.from_dict(data)



                return grader_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ImproveStudentGraderType1 | None | str | Unset, data)

        grader = _parse_grader(d.pop("grader", UNSET))


        def _parse_tools(data: object) -> list[ImproveStudentToolsType0Item] | None | Unset:
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
                    tools_type_0_item = ImproveStudentToolsType0Item.from_dict(tools_type_0_item_data)



                    tools_type_0.append(tools_type_0_item)

                return tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[ImproveStudentToolsType0Item] | None | Unset, data)

        tools = _parse_tools(d.pop("tools", UNSET))


        def _parse_mcp_servers(data: object) -> list[ImproveStudentMcpServersType0Item] | None | Unset:
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
                    mcp_servers_type_0_item = ImproveStudentMcpServersType0Item.from_dict(mcp_servers_type_0_item_data)



                    mcp_servers_type_0.append(mcp_servers_type_0_item)

                return mcp_servers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[ImproveStudentMcpServersType0Item] | None | Unset, data)

        mcp_servers = _parse_mcp_servers(d.pop("mcp_servers", UNSET))


        def _parse_environment(data: object) -> ImproveStudentEnvironmentType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                environment_type_1 = ImproveStudentEnvironmentType1.from_dict(data)



                return environment_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ImproveStudentEnvironmentType1 | None | str | Unset, data)

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


        def _parse_metadata(data: object) -> ImproveStudentMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = ImproveStudentMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ImproveStudentMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        def _parse_coach(data: object) -> CoachChoices | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                coach_type_0 = CoachChoices.from_dict(data)



                return coach_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CoachChoices | None | Unset, data)

        coach = _parse_coach(d.pop("coach", UNSET))


        improve_student = cls(
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
            coach=coach,
        )


        improve_student.additional_properties = d
        return improve_student

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
