from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.generated_curriculum import GeneratedCurriculum





T = TypeVar("T", bound="GeneratedScenarios")



@_attrs_define
class GeneratedScenarios:
    """ The tasks that a model wrote.

        Attributes:
            object_ (Literal['scenarios']): Type of the object; each type has one constant value. Default: 'scenarios'.
            curriculum (GeneratedCurriculum): Rows of a curriculum, as a job's `curriculum` takes them.
            complete (bool): True when there are as many rows as were wanted.
            faults (list[str]): Reasons why there are fewer rows.
            duplicates (int): Tasks that were left out because they repeat another one, or almost.
            unusable (int): Entries of the model's answers that were left out because they are no task with a difficulty.
            questions (int): Questions that the model was asked.
            prompt_tokens (int): Tokens of the questions.
            completion_tokens (int): Tokens of the answers.
     """

    curriculum: GeneratedCurriculum
    complete: bool
    faults: list[str]
    duplicates: int
    unusable: int
    questions: int
    prompt_tokens: int
    completion_tokens: int
    object_: Literal['scenarios'] = 'scenarios'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.generated_curriculum import GeneratedCurriculum # noqa: PLC0415
        object_ = self.object_

        curriculum = self.curriculum.to_dict()

        complete = self.complete

        faults = self.faults



        duplicates = self.duplicates

        unusable = self.unusable

        questions = self.questions

        prompt_tokens = self.prompt_tokens

        completion_tokens = self.completion_tokens


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "curriculum": curriculum,
            "complete": complete,
            "faults": faults,
            "duplicates": duplicates,
            "unusable": unusable,
            "questions": questions,
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.generated_curriculum import GeneratedCurriculum # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['scenarios'] , d.pop("object"))
        if object_ != 'scenarios':
            raise ValueError(f"object must match const 'scenarios', got '{object_}'")

        curriculum = GeneratedCurriculum.from_dict(d.pop("curriculum"))




        complete = d.pop("complete")

        faults = cast(list[str], d.pop("faults"))


        duplicates = d.pop("duplicates")

        unusable = d.pop("unusable")

        questions = d.pop("questions")

        prompt_tokens = d.pop("prompt_tokens")

        completion_tokens = d.pop("completion_tokens")

        generated_scenarios = cls(
            object_=object_,
            curriculum=curriculum,
            complete=complete,
            faults=faults,
            duplicates=duplicates,
            unusable=unusable,
            questions=questions,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
        )


        generated_scenarios.additional_properties = d
        return generated_scenarios

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
