from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="Columns")



@_attrs_define
class Columns:
    """ The columns of a table by the part of a row that they become. Those that are left out are
    guessed from the names of the columns; all other columns keep their names, for graders.

        Attributes:
            prompt (None | str | Unset): Text of the user's message.
            system (None | str | Unset): Text of the system message.
            answer (None | str | Unset): The answer: learned by supervised jobs, `item.answer` of graders in reinforcement
                jobs.
            chosen (None | str | Unset): The better answer of a pair.
            rejected (None | str | Unset): The worse answer of a pair.
            messages (None | str | Unset): A conversation as JSON, instead of `prompt` and `system`.
            tags (None | str | Unset): Names of groups, separated by `;` or `,`, by which the held-out part is balanced.
            difficulty (None | str | Unset): A number from 0, easy, to 1, hard.
     """

    prompt: None | str | Unset = UNSET
    system: None | str | Unset = UNSET
    answer: None | str | Unset = UNSET
    chosen: None | str | Unset = UNSET
    rejected: None | str | Unset = UNSET
    messages: None | str | Unset = UNSET
    tags: None | str | Unset = UNSET
    difficulty: None | str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        prompt: None | str | Unset
        if isinstance(self.prompt, Unset):
            prompt = UNSET
        else:
            prompt = self.prompt

        system: None | str | Unset
        if isinstance(self.system, Unset):
            system = UNSET
        else:
            system = self.system

        answer: None | str | Unset
        if isinstance(self.answer, Unset):
            answer = UNSET
        else:
            answer = self.answer

        chosen: None | str | Unset
        if isinstance(self.chosen, Unset):
            chosen = UNSET
        else:
            chosen = self.chosen

        rejected: None | str | Unset
        if isinstance(self.rejected, Unset):
            rejected = UNSET
        else:
            rejected = self.rejected

        messages: None | str | Unset
        if isinstance(self.messages, Unset):
            messages = UNSET
        else:
            messages = self.messages

        tags: None | str | Unset
        if isinstance(self.tags, Unset):
            tags = UNSET
        else:
            tags = self.tags

        difficulty: None | str | Unset
        if isinstance(self.difficulty, Unset):
            difficulty = UNSET
        else:
            difficulty = self.difficulty


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if prompt is not UNSET:
            field_dict["prompt"] = prompt
        if system is not UNSET:
            field_dict["system"] = system
        if answer is not UNSET:
            field_dict["answer"] = answer
        if chosen is not UNSET:
            field_dict["chosen"] = chosen
        if rejected is not UNSET:
            field_dict["rejected"] = rejected
        if messages is not UNSET:
            field_dict["messages"] = messages
        if tags is not UNSET:
            field_dict["tags"] = tags
        if difficulty is not UNSET:
            field_dict["difficulty"] = difficulty

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_prompt(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        prompt = _parse_prompt(d.pop("prompt", UNSET))


        def _parse_system(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        system = _parse_system(d.pop("system", UNSET))


        def _parse_answer(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        answer = _parse_answer(d.pop("answer", UNSET))


        def _parse_chosen(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        chosen = _parse_chosen(d.pop("chosen", UNSET))


        def _parse_rejected(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        rejected = _parse_rejected(d.pop("rejected", UNSET))


        def _parse_messages(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        messages = _parse_messages(d.pop("messages", UNSET))


        def _parse_tags(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        tags = _parse_tags(d.pop("tags", UNSET))


        def _parse_difficulty(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        difficulty = _parse_difficulty(d.pop("difficulty", UNSET))


        columns = cls(
            prompt=prompt,
            system=system,
            answer=answer,
            chosen=chosen,
            rejected=rejected,
            messages=messages,
            tags=tags,
            difficulty=difficulty,
        )

        return columns

