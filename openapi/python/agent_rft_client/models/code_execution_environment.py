from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import Literal, cast






T = TypeVar("T", bound="CodeExecutionEnvironment")



@_attrs_define
class CodeExecutionEnvironment:
    """ Functions to write; an answer earns the share of tests that its function passes.

        Attributes:
            type_ (Literal['code_execution']): Selects the kind of the object.
            seed (int | Unset): Seed of the tasks: equal options and an equal seed give equal tasks. Default: 0.
            training_tasks (int | Unset): Number of tasks to train on. Default: 256.
            validation_tasks (int | Unset): Number of held-out tasks; none of them is a training task. Default: 32.
            level (int | Unset): Difficulty: 1 (one expression) to 3 (a loop with state). Default: 1.
     """

    type_: Literal['code_execution']
    seed: int | Unset = 0
    training_tasks: int | Unset = 256
    validation_tasks: int | Unset = 32
    level: int | Unset = 1





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        seed = self.seed

        training_tasks = self.training_tasks

        validation_tasks = self.validation_tasks

        level = self.level


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "type": type_,
        })
        if seed is not UNSET:
            field_dict["seed"] = seed
        if training_tasks is not UNSET:
            field_dict["training_tasks"] = training_tasks
        if validation_tasks is not UNSET:
            field_dict["validation_tasks"] = validation_tasks
        if level is not UNSET:
            field_dict["level"] = level

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['code_execution'] , d.pop("type"))
        if type_ != 'code_execution':
            raise ValueError(f"type must match const 'code_execution', got '{type_}'")

        seed = d.pop("seed", UNSET)

        training_tasks = d.pop("training_tasks", UNSET)

        validation_tasks = d.pop("validation_tasks", UNSET)

        level = d.pop("level", UNSET)

        code_execution_environment = cls(
            type_=type_,
            seed=seed,
            training_tasks=training_tasks,
            validation_tasks=validation_tasks,
            level=level,
        )

        return code_execution_environment

