from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.create_webhook_endpoint_event_types_item import check_create_webhook_endpoint_event_types_item
from ..models.create_webhook_endpoint_event_types_item import CreateWebhookEndpointEventTypesItem
from typing import cast






T = TypeVar("T", bound="CreateWebhookEndpoint")



@_attrs_define
class CreateWebhookEndpoint:
    """ A new webhook endpoint.

        Attributes:
            name (str): Name for readers; it need not be unique.
            url (str): Address that events are sent to.
            event_types (list[CreateWebhookEndpointEventTypesItem]): Events that are sent to it.
     """

    name: str
    url: str
    event_types: list[CreateWebhookEndpointEventTypesItem]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        name = self.name

        url = self.url

        event_types = []
        for event_types_item_data in self.event_types:
            event_types_item: str = event_types_item_data
            event_types.append(event_types_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "url": url,
            "event_types": event_types,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        url = d.pop("url")

        event_types = []
        _event_types = d.pop("event_types")
        for event_types_item_data in (_event_types):
            event_types_item = check_create_webhook_endpoint_event_types_item(event_types_item_data)



            event_types.append(event_types_item)


        create_webhook_endpoint = cls(
            name=name,
            url=url,
            event_types=event_types,
        )


        create_webhook_endpoint.additional_properties = d
        return create_webhook_endpoint

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
