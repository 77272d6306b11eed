from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.create_coach_session_method_type_0 import check_create_coach_session_method_type_0
from ..models.create_coach_session_method_type_0 import CreateCoachSessionMethodType0
from ..models.create_coach_session_promote import check_create_coach_session_promote
from ..models.create_coach_session_promote import CreateCoachSessionPromote
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.coach_budget import CoachBudget
  from ..models.create_coach_session_curriculum_type_1 import CreateCoachSessionCurriculumType1
  from ..models.create_coach_session_environment_type_1 import CreateCoachSessionEnvironmentType1
  from ..models.create_coach_session_grader_type_1 import CreateCoachSessionGraderType1
  from ..models.create_coach_session_mcp_servers_type_0_item import CreateCoachSessionMcpServersType0Item
  from ..models.create_coach_session_metadata_type_0 import CreateCoachSessionMetadataType0
  from ..models.create_coach_session_tools_type_0_item import CreateCoachSessionToolsType0Item
  from ..models.plan_knobs import PlanKnobs





T = TypeVar("T", bound="CreateCoachSession")



@_attrs_define
class CreateCoachSession:
    """ A session of the Coach: a student, the improvement plan of its jobs, and when to stop.

        Attributes:
            student (str): Name of the student to coach, with or without `student:`.
            recipe (None | str | Unset): Id of the recipe to start from; it brings method, grader, knobs, and, without data
                of your own, its sample curriculum.
            method (CreateCoachSessionMethodType0 | None | Unset): Training method; absent: the recipe's, or else
                reinforcement.
            training_file (None | str | Unset): Id of a file with training rows.
            validation_file (None | str | Unset): Id of a file with held-out rows for validations.
            curriculum (CreateCoachSessionCurriculumType1 | None | str | Unset): Registered curriculum or inline rows, as in
                a job, instead of files.
            grader (CreateCoachSessionGraderType1 | None | str | Unset): Grader definition or reference, as in a job;
                absent: the environment's, or else the recipe's.
            tools (list[CreateCoachSessionToolsType0Item] | None | Unset): Tools that the service calls, as in a job.
            mcp_servers (list[CreateCoachSessionMcpServersType0Item] | None | Unset): Servers of tools, as in a job.
            environment (CreateCoachSessionEnvironmentType1 | None | str | Unset): Environment of the episodes, as in a job.
            knobs (None | PlanKnobs | Unset): Knob positions; absent ones are the recipe's, or else the middle.
            seed (int | None | Unset): Seed that the job gets; absent: chosen when it is created.
            suffix (None | str | Unset): Part of the tuned model's name, for the job.
            metadata (CreateCoachSessionMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the service
                does not read them.
            promote (CreateCoachSessionPromote | Unset): `automatic` makes each skill current that passed the gate; `ask`
                pauses for your decision. Default: 'automatic'.
            prompts (list[str] | Unset): System prompts to try before training; the rubric of the recipe is tried after
                them.
            samples (int | Unset): Attempts at each held-out row in a measurement. Default: 4.
            target (float | None | Unset): Mean score of the held-out rows at which the session ends; absent: none.
            min_gain (float | Unset): Gain of the mean score that is too small to go on for. Default: 0.02.
            patience (int | Unset): Rounds in succession without such a gain after which the session ends. Default: 2.
            budget (CoachBudget | Unset): Limits of a session over all its jobs. The session ends at the first that is
                reached.
     """

    student: str
    recipe: None | str | Unset = UNSET
    method: CreateCoachSessionMethodType0 | None | Unset = UNSET
    training_file: None | str | Unset = UNSET
    validation_file: None | str | Unset = UNSET
    curriculum: CreateCoachSessionCurriculumType1 | None | str | Unset = UNSET
    grader: CreateCoachSessionGraderType1 | None | str | Unset = UNSET
    tools: list[CreateCoachSessionToolsType0Item] | None | Unset = UNSET
    mcp_servers: list[CreateCoachSessionMcpServersType0Item] | None | Unset = UNSET
    environment: CreateCoachSessionEnvironmentType1 | None | str | Unset = UNSET
    knobs: None | PlanKnobs | Unset = UNSET
    seed: int | None | Unset = UNSET
    suffix: None | str | Unset = UNSET
    metadata: CreateCoachSessionMetadataType0 | None | Unset = UNSET
    promote: CreateCoachSessionPromote | Unset = 'automatic'
    prompts: list[str] | Unset = UNSET
    samples: int | Unset = 4
    target: float | None | Unset = UNSET
    min_gain: float | Unset = 0.02
    patience: int | Unset = 2
    budget: CoachBudget | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.coach_budget import CoachBudget # noqa: PLC0415
        from ..models.create_coach_session_curriculum_type_1 import CreateCoachSessionCurriculumType1 # noqa: PLC0415
        from ..models.create_coach_session_environment_type_1 import CreateCoachSessionEnvironmentType1 # noqa: PLC0415
        from ..models.create_coach_session_grader_type_1 import CreateCoachSessionGraderType1 # noqa: PLC0415
        from ..models.create_coach_session_mcp_servers_type_0_item import CreateCoachSessionMcpServersType0Item # noqa: PLC0415
        from ..models.create_coach_session_metadata_type_0 import CreateCoachSessionMetadataType0 # noqa: PLC0415
        from ..models.create_coach_session_tools_type_0_item import CreateCoachSessionToolsType0Item # noqa: PLC0415
        from ..models.plan_knobs import PlanKnobs # noqa: PLC0415
        student = self.student

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
        elif isinstance(self.curriculum, CreateCoachSessionCurriculumType1):
            curriculum = self.curriculum.to_dict()
        else:
            curriculum = self.curriculum

        grader: dict[str, Any] | None | str | Unset
        if isinstance(self.grader, Unset):
            grader = UNSET
        elif isinstance(self.grader, CreateCoachSessionGraderType1):
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
        elif isinstance(self.environment, CreateCoachSessionEnvironmentType1):
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
        elif isinstance(self.metadata, CreateCoachSessionMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        promote: str | Unset = UNSET
        if not isinstance(self.promote, Unset):
            promote = self.promote


        prompts: list[str] | Unset = UNSET
        if not isinstance(self.prompts, Unset):
            prompts = self.prompts



        samples = self.samples

        target: float | None | Unset
        if isinstance(self.target, Unset):
            target = UNSET
        else:
            target = self.target

        min_gain = self.min_gain

        patience = self.patience

        budget: dict[str, Any] | Unset = UNSET
        if not isinstance(self.budget, Unset):
            budget = self.budget.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "student": student,
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
        if promote is not UNSET:
            field_dict["promote"] = promote
        if prompts is not UNSET:
            field_dict["prompts"] = prompts
        if samples is not UNSET:
            field_dict["samples"] = samples
        if target is not UNSET:
            field_dict["target"] = target
        if min_gain is not UNSET:
            field_dict["min_gain"] = min_gain
        if patience is not UNSET:
            field_dict["patience"] = patience
        if budget is not UNSET:
            field_dict["budget"] = budget

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.coach_budget import CoachBudget # noqa: PLC0415
        from ..models.create_coach_session_curriculum_type_1 import CreateCoachSessionCurriculumType1 # noqa: PLC0415
        from ..models.create_coach_session_environment_type_1 import CreateCoachSessionEnvironmentType1 # noqa: PLC0415
        from ..models.create_coach_session_grader_type_1 import CreateCoachSessionGraderType1 # noqa: PLC0415
        from ..models.create_coach_session_mcp_servers_type_0_item import CreateCoachSessionMcpServersType0Item # noqa: PLC0415
        from ..models.create_coach_session_metadata_type_0 import CreateCoachSessionMetadataType0 # noqa: PLC0415
        from ..models.create_coach_session_tools_type_0_item import CreateCoachSessionToolsType0Item # noqa: PLC0415
        from ..models.plan_knobs import PlanKnobs # noqa: PLC0415
        d = dict(src_dict)
        student = d.pop("student")

        def _parse_recipe(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        recipe = _parse_recipe(d.pop("recipe", UNSET))


        def _parse_method(data: object) -> CreateCoachSessionMethodType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                method_type_0 = check_create_coach_session_method_type_0(data)



                return method_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateCoachSessionMethodType0 | None | Unset, data)

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


        def _parse_curriculum(data: object) -> CreateCoachSessionCurriculumType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                curriculum_type_1 = CreateCoachSessionCurriculumType1.from_dict(data)



                return curriculum_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateCoachSessionCurriculumType1 | None | str | Unset, data)

        curriculum = _parse_curriculum(d.pop("curriculum", UNSET))


        def _parse_grader(data: object) -> CreateCoachSessionGraderType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_1 = CreateCoachSessionGraderType1.from_dict(data)



                return grader_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateCoachSessionGraderType1 | None | str | Unset, data)

        grader = _parse_grader(d.pop("grader", UNSET))


        def _parse_tools(data: object) -> list[CreateCoachSessionToolsType0Item] | None | Unset:
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
                    tools_type_0_item = CreateCoachSessionToolsType0Item.from_dict(tools_type_0_item_data)



                    tools_type_0.append(tools_type_0_item)

                return tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CreateCoachSessionToolsType0Item] | None | Unset, data)

        tools = _parse_tools(d.pop("tools", UNSET))


        def _parse_mcp_servers(data: object) -> list[CreateCoachSessionMcpServersType0Item] | None | Unset:
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
                    mcp_servers_type_0_item = CreateCoachSessionMcpServersType0Item.from_dict(mcp_servers_type_0_item_data)



                    mcp_servers_type_0.append(mcp_servers_type_0_item)

                return mcp_servers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[CreateCoachSessionMcpServersType0Item] | None | Unset, data)

        mcp_servers = _parse_mcp_servers(d.pop("mcp_servers", UNSET))


        def _parse_environment(data: object) -> CreateCoachSessionEnvironmentType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                environment_type_1 = CreateCoachSessionEnvironmentType1.from_dict(data)



                return environment_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateCoachSessionEnvironmentType1 | None | str | Unset, data)

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


        def _parse_metadata(data: object) -> CreateCoachSessionMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateCoachSessionMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateCoachSessionMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        _promote = d.pop("promote", UNSET)
        promote: CreateCoachSessionPromote | Unset
        if isinstance(_promote,  Unset):
            promote = UNSET
        else:
            promote = check_create_coach_session_promote(_promote)




        prompts = cast(list[str], d.pop("prompts", UNSET))


        samples = d.pop("samples", UNSET)

        def _parse_target(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        target = _parse_target(d.pop("target", UNSET))


        min_gain = d.pop("min_gain", UNSET)

        patience = d.pop("patience", UNSET)

        _budget = d.pop("budget", UNSET)
        budget: CoachBudget | Unset
        if isinstance(_budget,  Unset):
            budget = UNSET
        else:
            budget = CoachBudget.from_dict(_budget)




        create_coach_session = cls(
            student=student,
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
            promote=promote,
            prompts=prompts,
            samples=samples,
            target=target,
            min_gain=min_gain,
            patience=patience,
            budget=budget,
        )


        create_coach_session.additional_properties = d
        return create_coach_session

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
