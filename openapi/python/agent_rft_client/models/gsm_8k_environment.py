from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="Gsm8KEnvironment")



@_attrs_define
class Gsm8KEnvironment:
    """ Word problems; an answer earns 1 if its last number is the reference's, else 0.

        Attributes:
            type_ (Literal['gsm8k']): Selects the kind of the object.
            seed (int | Unset): Seed of the tasks: equal options and an equal seed give equal tasks. Default: 0.
            training_tasks (int | Unset): Number of tasks to train on. Default: 256.
            validation_tasks (int | Unset): Number of held-out tasks; none of them is a training task. Default: 32.
            file (None | str | Unset): Id of a JSONL or Parquet file with `question` and `answer` in each row, as in the
                public data set; its problems are used in an order drawn from the seed. Absent: word problems of this service.
            max_steps (int | Unset): Largest number of steps of a solution; for the service's own problems only. Default: 4.
     """

    type_: Literal['gsm8k']
    seed: int | Unset = 0
    training_tasks: int | Unset = 256
    validation_tasks: int | Unset = 32
    file: None | str | Unset = UNSET
    max_steps: int | Unset = 4





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        seed = self.seed

        training_tasks = self.training_tasks

        validation_tasks = self.validation_tasks

        file: None | str | Unset
        if isinstance(self.file, Unset):
            file = UNSET
        else:
            file = self.file

        max_steps = self.max_steps


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
        if file is not UNSET:
            field_dict["file"] = file
        if max_steps is not UNSET:
            field_dict["max_steps"] = max_steps

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['gsm8k'] , d.pop("type"))
        if type_ != 'gsm8k':
            raise ValueError(f"type must match const 'gsm8k', got '{type_}'")

        seed = d.pop("seed", UNSET)

        training_tasks = d.pop("training_tasks", UNSET)

        validation_tasks = d.pop("validation_tasks", UNSET)

        def _parse_file(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        file = _parse_file(d.pop("file", UNSET))


        max_steps = d.pop("max_steps", UNSET)

        gsm_8k_environment = cls(
            type_=type_,
            seed=seed,
            training_tasks=training_tasks,
            validation_tasks=validation_tasks,
            file=file,
            max_steps=max_steps,
        )

        return gsm_8k_environment

