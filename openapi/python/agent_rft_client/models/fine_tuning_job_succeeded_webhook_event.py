from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.event_subject import EventSubject





T = TypeVar("T", bound="FineTuningJobSucceededWebhookEvent")



@_attrs_define
class FineTuningJobSucceededWebhookEvent:
    """ Event: a fine-tuning job published its model.

        Attributes:
            id (str): Id of the event, the same in every attempt.
            object_ (Literal['event']): Type of the object; each type has one constant value. Default: 'event'.
            created_at (int): Unix seconds at which the object was made.
            data (EventSubject): The object that a webhook event is about.
            type_ (Literal['fine_tuning.job.succeeded']): Selects the kind of the object.
     """

    id: str
    created_at: int
    data: EventSubject
    type_: Literal['fine_tuning.job.succeeded']
    object_: Literal['event'] = 'event'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.event_subject import EventSubject # noqa: PLC0415
        id = self.id

        object_ = self.object_

        created_at = self.created_at

        data = self.data.to_dict()

        type_ = self.type_


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created_at": created_at,
            "data": data,
            "type": type_,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.event_subject import EventSubject # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['event'] , d.pop("object"))
        if object_ != 'event':
            raise ValueError(f"object must match const 'event', got '{object_}'")

        created_at = d.pop("created_at")

        data = EventSubject.from_dict(d.pop("data"))




        type_ = cast(Literal['fine_tuning.job.succeeded'] , d.pop("type"))
        if type_ != 'fine_tuning.job.succeeded':
            raise ValueError(f"type must match const 'fine_tuning.job.succeeded', got '{type_}'")

        fine_tuning_job_succeeded_webhook_event = cls(
            id=id,
            object_=object_,
            created_at=created_at,
            data=data,
            type_=type_,
        )


        fine_tuning_job_succeeded_webhook_event.additional_properties = d
        return fine_tuning_job_succeeded_webhook_event

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
