from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.environment_test_call import EnvironmentTestCall
  from ..models.run_environment_test_task_type_0 import RunEnvironmentTestTaskType0





T = TypeVar("T", bound="RunEnvironmentTest")



@_attrs_define
class RunEnvironmentTest:
    """ The episode that a test plays with a registered environment.

        Attributes:
            task (None | RunEnvironmentTestTaskType0 | Unset): The row that is sent with `reset`; `messages` in it must be a
                conversation, as in a file.
            seed (int | Unset): The seed that is sent with `reset`. Default: 0.
            content (None | str | Unset): Text of the turn that is sent with `step`. Without it and without `tool_calls`,
                the turn calls the first offered tool, or contains a sentence about the test.
            tool_calls (list[EnvironmentTestCall] | None | Unset): Tool calls of the turn.
     """

    task: None | RunEnvironmentTestTaskType0 | Unset = UNSET
    seed: int | Unset = 0
    content: None | str | Unset = UNSET
    tool_calls: list[EnvironmentTestCall] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.environment_test_call import EnvironmentTestCall # noqa: PLC0415
        from ..models.run_environment_test_task_type_0 import RunEnvironmentTestTaskType0 # noqa: PLC0415
        task: dict[str, Any] | None | Unset
        if isinstance(self.task, Unset):
            task = UNSET
        elif isinstance(self.task, RunEnvironmentTestTaskType0):
            task = self.task.to_dict()
        else:
            task = self.task

        seed = self.seed

        content: None | str | Unset
        if isinstance(self.content, Unset):
            content = UNSET
        else:
            content = self.content

        tool_calls: list[dict[str, Any]] | None | Unset
        if isinstance(self.tool_calls, Unset):
            tool_calls = UNSET
        elif isinstance(self.tool_calls, list):
            tool_calls = []
            for tool_calls_type_0_item_data in self.tool_calls:
                tool_calls_type_0_item = tool_calls_type_0_item_data.to_dict()
                tool_calls.append(tool_calls_type_0_item)


        else:
            tool_calls = self.tool_calls


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if task is not UNSET:
            field_dict["task"] = task
        if seed is not UNSET:
            field_dict["seed"] = seed
        if content is not UNSET:
            field_dict["content"] = content
        if tool_calls is not UNSET:
            field_dict["tool_calls"] = tool_calls

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.environment_test_call import EnvironmentTestCall # noqa: PLC0415
        from ..models.run_environment_test_task_type_0 import RunEnvironmentTestTaskType0 # noqa: PLC0415
        d = dict(src_dict)
        def _parse_task(data: object) -> None | RunEnvironmentTestTaskType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                task_type_0 = RunEnvironmentTestTaskType0.from_dict(data)



                return task_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RunEnvironmentTestTaskType0 | Unset, data)

        task = _parse_task(d.pop("task", UNSET))


        seed = d.pop("seed", UNSET)

        def _parse_content(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        content = _parse_content(d.pop("content", UNSET))


        def _parse_tool_calls(data: object) -> list[EnvironmentTestCall] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tool_calls_type_0 = []
                _tool_calls_type_0 = data
                for tool_calls_type_0_item_data in (_tool_calls_type_0):
                    tool_calls_type_0_item = EnvironmentTestCall.from_dict(tool_calls_type_0_item_data)



                    tool_calls_type_0.append(tool_calls_type_0_item)

                return tool_calls_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[EnvironmentTestCall] | None | Unset, data)

        tool_calls = _parse_tool_calls(d.pop("tool_calls", UNSET))


        run_environment_test = cls(
            task=task,
            seed=seed,
            content=content,
            tool_calls=tool_calls,
        )


        run_environment_test.additional_properties = d
        return run_environment_test

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
