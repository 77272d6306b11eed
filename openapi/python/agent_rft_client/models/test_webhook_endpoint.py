from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.test_webhook_endpoint_event_type import check_test_webhook_endpoint_event_type
from ..models.test_webhook_endpoint_event_type import TestWebhookEndpointEventType
from typing import cast






T = TypeVar("T", bound="TestWebhookEndpoint")



@_attrs_define
class TestWebhookEndpoint:
    """ The event that a test sends to an endpoint.

        Attributes:
            event_type (TestWebhookEndpointEventType): Type of the sample event.
     """

    event_type: TestWebhookEndpointEventType
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        event_type: str = self.event_type


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "event_type": event_type,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event_type = check_test_webhook_endpoint_event_type(d.pop("event_type"))




        test_webhook_endpoint = cls(
            event_type=event_type,
        )


        test_webhook_endpoint.additional_properties = d
        return test_webhook_endpoint

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
