from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.streamed_job_event_level import check_streamed_job_event_level
from ..models.streamed_job_event_level import StreamedJobEventLevel
from ..models.streamed_job_event_type import check_streamed_job_event_type
from ..models.streamed_job_event_type import StreamedJobEventType
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.streamed_job_event_data_type_0 import StreamedJobEventDataType0
  from ..models.streamed_point import StreamedPoint





T = TypeVar("T", bound="StreamedJobEvent")



@_attrs_define
class StreamedJobEvent:
    """ An event of the job; its `type` is the name of the message, its `id` the message's id.

        Attributes:
            id (str): Id of the object.
            created_at (int): Unix seconds at which the object was made.
            level (StreamedJobEventLevel): `warn` and `error` need attention.
            message (str): The event in a sentence.
            type_ (StreamedJobEventType): `metrics` has the values of a step in `data`.
            data (None | StreamedJobEventDataType0): Values, codes and parameters of the event.
            points (list[StreamedPoint]): Points of the step in `data.step`; a later one of the same name, split and step
                replaces an earlier one.
            object_ (Literal['fine_tuning.job.event'] | Unset): Type of the object; each type has one constant value.
                Default: 'fine_tuning.job.event'.
     """

    id: str
    created_at: int
    level: StreamedJobEventLevel
    message: str
    type_: StreamedJobEventType
    data: None | StreamedJobEventDataType0
    points: list[StreamedPoint]
    object_: Literal['fine_tuning.job.event'] | Unset = 'fine_tuning.job.event'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.streamed_job_event_data_type_0 import StreamedJobEventDataType0 # noqa: PLC0415
        from ..models.streamed_point import StreamedPoint # noqa: PLC0415
        id = self.id

        created_at = self.created_at

        level: str = self.level

        message = self.message

        type_: str = self.type_

        data: dict[str, Any] | None
        if isinstance(self.data, StreamedJobEventDataType0):
            data = self.data.to_dict()
        else:
            data = self.data

        points = []
        for points_item_data in self.points:
            points_item = points_item_data.to_dict()
            points.append(points_item)



        object_ = self.object_


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "created_at": created_at,
            "level": level,
            "message": message,
            "type": type_,
            "data": data,
            "points": points,
        })
        if object_ is not UNSET:
            field_dict["object"] = object_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.streamed_job_event_data_type_0 import StreamedJobEventDataType0 # noqa: PLC0415
        from ..models.streamed_point import StreamedPoint # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        created_at = d.pop("created_at")

        level = check_streamed_job_event_level(d.pop("level"))




        message = d.pop("message")

        type_ = check_streamed_job_event_type(d.pop("type"))




        def _parse_data(data: object) -> None | StreamedJobEventDataType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                data_type_0 = StreamedJobEventDataType0.from_dict(data)



                return data_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StreamedJobEventDataType0, data)

        data = _parse_data(d.pop("data"))


        points = []
        _points = d.pop("points")
        for points_item_data in (_points):
            points_item = StreamedPoint.from_dict(points_item_data)



            points.append(points_item)


        object_ = cast(Literal['fine_tuning.job.event'] | Unset , d.pop("object", UNSET))
        if object_ != 'fine_tuning.job.event'and not isinstance(object_, Unset):
            raise ValueError(f"object must match const 'fine_tuning.job.event', got '{object_}'")

        streamed_job_event = cls(
            id=id,
            created_at=created_at,
            level=level,
            message=message,
            type_=type_,
            data=data,
            points=points,
            object_=object_,
        )


        streamed_job_event.additional_properties = d
        return streamed_job_event

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
