from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.delivery_error import check_delivery_error
from ..models.delivery_error import DeliveryError
from ..models.delivery_status import check_delivery_status
from ..models.delivery_status import DeliveryStatus
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="WebhookDeliveryObject")



@_attrs_define
class WebhookDeliveryObject:
    """ Delivery of one event to one endpoint, over all its attempts.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['webhook_endpoint.delivery']): Type of the object; each type has one constant value. Default:
                'webhook_endpoint.delivery'.
            event_id (str): Id sent as `webhook-id` with every attempt.
            event_type (str): Type of the event.
            status (DeliveryStatus): State of a delivery: pending, accepted by the endpoint, or failed after all attempts.
            attempts (int): Attempts so far.
            last_status_code (int | None): Status of the endpoint's last reply.
            last_error (DeliveryError | None): Reason why the last attempt got no status, or was not made.
            next_attempt_at (int | None): Unix seconds of the next attempt; `null` when there is none.
            created_at (int): Unix seconds at which the object was made.
            finished_at (int | None): Unix seconds of the last attempt.
     """

    id: str
    event_id: str
    event_type: str
    status: DeliveryStatus
    attempts: int
    last_status_code: int | None
    last_error: DeliveryError | None
    next_attempt_at: int | None
    created_at: int
    finished_at: int | None
    object_: Literal['webhook_endpoint.delivery'] = 'webhook_endpoint.delivery'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        event_id = self.event_id

        event_type = self.event_type

        status: str = self.status

        attempts = self.attempts

        last_status_code: int | None
        last_status_code = self.last_status_code

        last_error: None | str
        if isinstance(self.last_error, str):
            last_error = self.last_error
        else:
            last_error = self.last_error

        next_attempt_at: int | None
        next_attempt_at = self.next_attempt_at

        created_at = self.created_at

        finished_at: int | None
        finished_at = self.finished_at


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "event_id": event_id,
            "event_type": event_type,
            "status": status,
            "attempts": attempts,
            "last_status_code": last_status_code,
            "last_error": last_error,
            "next_attempt_at": next_attempt_at,
            "created_at": created_at,
            "finished_at": finished_at,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['webhook_endpoint.delivery'] , d.pop("object"))
        if object_ != 'webhook_endpoint.delivery':
            raise ValueError(f"object must match const 'webhook_endpoint.delivery', got '{object_}'")

        event_id = d.pop("event_id")

        event_type = d.pop("event_type")

        status = check_delivery_status(d.pop("status"))




        attempts = d.pop("attempts")

        def _parse_last_status_code(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        last_status_code = _parse_last_status_code(d.pop("last_status_code"))


        def _parse_last_error(data: object) -> DeliveryError | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_error_type_0 = check_delivery_error(data)



                return last_error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeliveryError | None, data)

        last_error = _parse_last_error(d.pop("last_error"))


        def _parse_next_attempt_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        next_attempt_at = _parse_next_attempt_at(d.pop("next_attempt_at"))


        created_at = d.pop("created_at")

        def _parse_finished_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))


        webhook_delivery_object = cls(
            id=id,
            object_=object_,
            event_id=event_id,
            event_type=event_type,
            status=status,
            attempts=attempts,
            last_status_code=last_status_code,
            last_error=last_error,
            next_attempt_at=next_attempt_at,
            created_at=created_at,
            finished_at=finished_at,
        )


        webhook_delivery_object.additional_properties = d
        return webhook_delivery_object

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
