from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.fine_tuning_job_event_level import check_fine_tuning_job_event_level
from ..models.fine_tuning_job_event_level import FineTuningJobEventLevel
from ..models.fine_tuning_job_event_type import check_fine_tuning_job_event_type
from ..models.fine_tuning_job_event_type import FineTuningJobEventType
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.fine_tuning_job_event_data_type_0 import FineTuningJobEventDataType0





T = TypeVar("T", bound="FineTuningJobEvent")



@_attrs_define
class FineTuningJobEvent:
    """ An event in the life of a job.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['fine_tuning.job.event']): Type of the object; each type has one constant value. Default:
                'fine_tuning.job.event'.
            created_at (int): Unix seconds at which the object was made.
            level (FineTuningJobEventLevel): `warn` and `error` need attention.
            message (str): The event in a sentence.
            type_ (FineTuningJobEventType): `metrics` has the values of a step in `data`.
            data (FineTuningJobEventDataType0 | None): Values, codes and parameters of the event.
     """

    id: str
    created_at: int
    level: FineTuningJobEventLevel
    message: str
    type_: FineTuningJobEventType
    data: FineTuningJobEventDataType0 | None
    object_: Literal['fine_tuning.job.event'] = 'fine_tuning.job.event'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.fine_tuning_job_event_data_type_0 import FineTuningJobEventDataType0 # noqa: PLC0415
        id = self.id

        object_ = self.object_

        created_at = self.created_at

        level: str = self.level

        message = self.message

        type_: str = self.type_

        data: dict[str, Any] | None
        if isinstance(self.data, FineTuningJobEventDataType0):
            data = self.data.to_dict()
        else:
            data = self.data


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created_at": created_at,
            "level": level,
            "message": message,
            "type": type_,
            "data": data,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.fine_tuning_job_event_data_type_0 import FineTuningJobEventDataType0 # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['fine_tuning.job.event'] , d.pop("object"))
        if object_ != 'fine_tuning.job.event':
            raise ValueError(f"object must match const 'fine_tuning.job.event', got '{object_}'")

        created_at = d.pop("created_at")

        level = check_fine_tuning_job_event_level(d.pop("level"))




        message = d.pop("message")

        type_ = check_fine_tuning_job_event_type(d.pop("type"))




        def _parse_data(data: object) -> FineTuningJobEventDataType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                data_type_0 = FineTuningJobEventDataType0.from_dict(data)



                return data_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FineTuningJobEventDataType0 | None, data)

        data = _parse_data(d.pop("data"))


        fine_tuning_job_event = cls(
            id=id,
            object_=object_,
            created_at=created_at,
            level=level,
            message=message,
            type_=type_,
            data=data,
        )


        fine_tuning_job_event.additional_properties = d
        return fine_tuning_job_event

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
