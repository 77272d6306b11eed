from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import Literal, cast






T = TypeVar("T", bound="WebhookEndpointTestResult")



@_attrs_define
class WebhookEndpointTestResult:
    """ The outcome of a test event.

        Attributes:
            object_ (Literal['webhook_endpoint.test']): Type of the object; each type has one constant value. Default:
                'webhook_endpoint.test'.
            webhook_endpoint_id (str): Id of the endpoint.
            event_type (str): Type of the event that was sent.
            success (bool): True when the endpoint answered; its status shows if it accepted the event. Default: True.
            status_code (int): Status of the endpoint's reply.
     """

    webhook_endpoint_id: str
    event_type: str
    status_code: int
    object_: Literal['webhook_endpoint.test'] = 'webhook_endpoint.test'
    success: bool = True
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        object_ = self.object_

        webhook_endpoint_id = self.webhook_endpoint_id

        event_type = self.event_type

        success = self.success

        status_code = self.status_code


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "webhook_endpoint_id": webhook_endpoint_id,
            "event_type": event_type,
            "success": success,
            "status_code": status_code,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        object_ = cast(Literal['webhook_endpoint.test'] , d.pop("object"))
        if object_ != 'webhook_endpoint.test':
            raise ValueError(f"object must match const 'webhook_endpoint.test', got '{object_}'")

        webhook_endpoint_id = d.pop("webhook_endpoint_id")

        event_type = d.pop("event_type")

        success = d.pop("success")

        status_code = d.pop("status_code")

        webhook_endpoint_test_result = cls(
            object_=object_,
            webhook_endpoint_id=webhook_endpoint_id,
            event_type=event_type,
            success=success,
            status_code=status_code,
        )


        webhook_endpoint_test_result.additional_properties = d
        return webhook_endpoint_test_result

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
