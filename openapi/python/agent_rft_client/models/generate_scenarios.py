from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.generate_scenarios_tools_item import GenerateScenariosToolsItem
  from ..models.scenario_model import ScenarioModel





T = TypeVar("T", bound="GenerateScenarios")



@_attrs_define
class GenerateScenarios:
    """ The tools of an agent, and the model that writes tasks for it.

        Attributes:
            tools (list[GenerateScenariosToolsItem]): Functions of the agent, as in a row: `{"type": "function", "function":
                {…}}`.
            generator (ScenarioModel): The model that writes scenarios, on this service or on an OpenAI-compatible server.
            training_tasks (int | Unset): Rows to train on. Default: 24.
            validation_tasks (int | Unset): Held-out rows: 10 and more, or 0 for training rows alone. A reinforcement job
                needs a validation file. Default: 10.
            instructions (None | str | Unset): Words about the tasks that are wanted.
            system_prompt (None | str | Unset): System message of each row.
     """

    tools: list[GenerateScenariosToolsItem]
    generator: ScenarioModel
    training_tasks: int | Unset = 24
    validation_tasks: int | Unset = 10
    instructions: None | str | Unset = UNSET
    system_prompt: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.generate_scenarios_tools_item import GenerateScenariosToolsItem # noqa: PLC0415
        from ..models.scenario_model import ScenarioModel # noqa: PLC0415
        tools = []
        for tools_item_data in self.tools:
            tools_item = tools_item_data.to_dict()
            tools.append(tools_item)



        generator = self.generator.to_dict()

        training_tasks = self.training_tasks

        validation_tasks = self.validation_tasks

        instructions: None | str | Unset
        if isinstance(self.instructions, Unset):
            instructions = UNSET
        else:
            instructions = self.instructions

        system_prompt: None | str | Unset
        if isinstance(self.system_prompt, Unset):
            system_prompt = UNSET
        else:
            system_prompt = self.system_prompt


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "tools": tools,
            "generator": generator,
        })
        if training_tasks is not UNSET:
            field_dict["training_tasks"] = training_tasks
        if validation_tasks is not UNSET:
            field_dict["validation_tasks"] = validation_tasks
        if instructions is not UNSET:
            field_dict["instructions"] = instructions
        if system_prompt is not UNSET:
            field_dict["system_prompt"] = system_prompt

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.generate_scenarios_tools_item import GenerateScenariosToolsItem # noqa: PLC0415
        from ..models.scenario_model import ScenarioModel # noqa: PLC0415
        d = dict(src_dict)
        tools = []
        _tools = d.pop("tools")
        for tools_item_data in (_tools):
            tools_item = GenerateScenariosToolsItem.from_dict(tools_item_data)



            tools.append(tools_item)


        generator = ScenarioModel.from_dict(d.pop("generator"))




        training_tasks = d.pop("training_tasks", UNSET)

        validation_tasks = d.pop("validation_tasks", UNSET)

        def _parse_instructions(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        instructions = _parse_instructions(d.pop("instructions", UNSET))


        def _parse_system_prompt(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        system_prompt = _parse_system_prompt(d.pop("system_prompt", UNSET))


        generate_scenarios = cls(
            tools=tools,
            generator=generator,
            training_tasks=training_tasks,
            validation_tasks=validation_tasks,
            instructions=instructions,
            system_prompt=system_prompt,
        )


        generate_scenarios.additional_properties = d
        return generate_scenarios

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
