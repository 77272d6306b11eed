from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.arithmetic_environment_operations_item import ArithmeticEnvironmentOperationsItem
from ..models.arithmetic_environment_operations_item import check_arithmetic_environment_operations_item
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="ArithmeticEnvironment")



@_attrs_define
class ArithmeticEnvironment:
    """ Random arithmetic; an answer earns 1 if its last number is the result, else 0.

        Attributes:
            type_ (Literal['arithmetic']): Selects the kind of the object.
            seed (int | Unset): Seed of the tasks: equal options and an equal seed give equal tasks. Default: 0.
            training_tasks (int | Unset): Number of tasks to train on. Default: 256.
            validation_tasks (int | Unset): Number of held-out tasks; none of them is a training task. Default: 32.
            operands (int | Unset): Number of operands of each problem. Default: 2.
            min_operand (int | Unset): Smallest operand. Default: 0.
            max_operand (int | Unset): Largest operand. Default: 99.
            operations (list[ArithmeticEnvironmentOperationsItem] | Unset): The operations to draw from; products are
                computed before sums.
            format_penalty (float | Unset): Amount by which the reward of an answer without a final line `Answer: N` is
                reduced. Default: 0.0.
     """

    type_: Literal['arithmetic']
    seed: int | Unset = 0
    training_tasks: int | Unset = 256
    validation_tasks: int | Unset = 32
    operands: int | Unset = 2
    min_operand: int | Unset = 0
    max_operand: int | Unset = 99
    operations: list[ArithmeticEnvironmentOperationsItem] | Unset = UNSET
    format_penalty: float | Unset = 0.0





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        seed = self.seed

        training_tasks = self.training_tasks

        validation_tasks = self.validation_tasks

        operands = self.operands

        min_operand = self.min_operand

        max_operand = self.max_operand

        operations: list[str] | Unset = UNSET
        if not isinstance(self.operations, Unset):
            operations = []
            for operations_item_data in self.operations:
                operations_item: str = operations_item_data
                operations.append(operations_item)



        format_penalty = self.format_penalty


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
        if operands is not UNSET:
            field_dict["operands"] = operands
        if min_operand is not UNSET:
            field_dict["min_operand"] = min_operand
        if max_operand is not UNSET:
            field_dict["max_operand"] = max_operand
        if operations is not UNSET:
            field_dict["operations"] = operations
        if format_penalty is not UNSET:
            field_dict["format_penalty"] = format_penalty

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['arithmetic'] , d.pop("type"))
        if type_ != 'arithmetic':
            raise ValueError(f"type must match const 'arithmetic', got '{type_}'")

        seed = d.pop("seed", UNSET)

        training_tasks = d.pop("training_tasks", UNSET)

        validation_tasks = d.pop("validation_tasks", UNSET)

        operands = d.pop("operands", UNSET)

        min_operand = d.pop("min_operand", UNSET)

        max_operand = d.pop("max_operand", UNSET)

        _operations = d.pop("operations", UNSET)
        operations: list[ArithmeticEnvironmentOperationsItem] | Unset = UNSET
        if _operations is not UNSET:
            operations = []
            for operations_item_data in _operations:
                operations_item = check_arithmetic_environment_operations_item(operations_item_data)



                operations.append(operations_item)


        format_penalty = d.pop("format_penalty", UNSET)

        arithmetic_environment = cls(
            type_=type_,
            seed=seed,
            training_tasks=training_tasks,
            validation_tasks=validation_tasks,
            operands=operands,
            min_operand=min_operand,
            max_operand=max_operand,
            operations=operations,
            format_penalty=format_penalty,
        )

        return arithmetic_environment

