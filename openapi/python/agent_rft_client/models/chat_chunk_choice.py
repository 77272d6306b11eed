from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.chat_chunk_choice_finish_reason_type_0 import ChatChunkChoiceFinishReasonType0
from ..models.chat_chunk_choice_finish_reason_type_0 import check_chat_chunk_choice_finish_reason_type_0
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.chat_delta import ChatDelta
  from ..models.logprobs import Logprobs





T = TypeVar("T", bound="ChatChunkChoice")



@_attrs_define
class ChatChunkChoice:
    """ The addition to one answer of a stream.

        Attributes:
            index (int): Number of the answer, from 0.
            delta (ChatDelta): An addition to the message.
            finish_reason (ChatChunkChoiceFinishReasonType0 | None): In the last chunk of the answer.
            logprobs (Logprobs | None | Unset): Log-probs of the tokens since the previous chunk, if requested.
     """

    index: int
    delta: ChatDelta
    finish_reason: ChatChunkChoiceFinishReasonType0 | None
    logprobs: Logprobs | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_delta import ChatDelta # noqa: PLC0415
        from ..models.logprobs import Logprobs # noqa: PLC0415
        index = self.index

        delta = self.delta.to_dict()

        finish_reason: None | str
        if isinstance(self.finish_reason, str):
            finish_reason = self.finish_reason
        else:
            finish_reason = self.finish_reason

        logprobs: dict[str, Any] | None | Unset
        if isinstance(self.logprobs, Unset):
            logprobs = UNSET
        elif isinstance(self.logprobs, Logprobs):
            logprobs = self.logprobs.to_dict()
        else:
            logprobs = self.logprobs


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "index": index,
            "delta": delta,
            "finish_reason": finish_reason,
        })
        if logprobs is not UNSET:
            field_dict["logprobs"] = logprobs

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_delta import ChatDelta # noqa: PLC0415
        from ..models.logprobs import Logprobs # noqa: PLC0415
        d = dict(src_dict)
        index = d.pop("index")

        delta = ChatDelta.from_dict(d.pop("delta"))




        def _parse_finish_reason(data: object) -> ChatChunkChoiceFinishReasonType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                finish_reason_type_0 = check_chat_chunk_choice_finish_reason_type_0(data)



                return finish_reason_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChatChunkChoiceFinishReasonType0 | None, data)

        finish_reason = _parse_finish_reason(d.pop("finish_reason"))


        def _parse_logprobs(data: object) -> Logprobs | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                logprobs_type_0 = Logprobs.from_dict(data)



                return logprobs_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Logprobs | None | Unset, data)

        logprobs = _parse_logprobs(d.pop("logprobs", UNSET))


        chat_chunk_choice = cls(
            index=index,
            delta=delta,
            finish_reason=finish_reason,
            logprobs=logprobs,
        )


        chat_chunk_choice.additional_properties = d
        return chat_chunk_choice

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
