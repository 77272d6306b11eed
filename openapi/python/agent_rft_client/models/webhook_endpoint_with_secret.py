from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="WebhookEndpointWithSecret")



@_attrs_define
class WebhookEndpointWithSecret:
    """ A webhook endpoint with its signing secret, which no other reply contains.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['webhook_endpoint']): Type of the object; each type has one constant value. Default:
                'webhook_endpoint'.
            created_at (int): Unix seconds at which the object was made.
            updated_at (int): Time of the last change of configuration or secret.
            name (str): Name for readers; it need not be unique.
            url (str): Address that events are sent to, with query values redacted.
            event_types (list[str]): Events that are sent to it.
            signing_secret_hint (str): The secret's last characters, by which an owner recognises it.
            disabled_at (int | None): Time of the 410 reply that disabled the endpoint; any update enables it again.
            last_failed_at (int | None): Time of the last delivery that failed after all attempts, unless one succeeded
                since.
            signing_secret (str): The signing secret; no later reply contains it.
     """

    id: str
    created_at: int
    updated_at: int
    name: str
    url: str
    event_types: list[str]
    signing_secret_hint: str
    disabled_at: int | None
    last_failed_at: int | None
    signing_secret: str
    object_: Literal['webhook_endpoint'] = 'webhook_endpoint'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        id = self.id

        object_ = self.object_

        created_at = self.created_at

        updated_at = self.updated_at

        name = self.name

        url = self.url

        event_types = self.event_types



        signing_secret_hint = self.signing_secret_hint

        disabled_at: int | None
        disabled_at = self.disabled_at

        last_failed_at: int | None
        last_failed_at = self.last_failed_at

        signing_secret = self.signing_secret


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "created_at": created_at,
            "updated_at": updated_at,
            "name": name,
            "url": url,
            "event_types": event_types,
            "signing_secret_hint": signing_secret_hint,
            "disabled_at": disabled_at,
            "last_failed_at": last_failed_at,
            "signing_secret": signing_secret,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['webhook_endpoint'] , d.pop("object"))
        if object_ != 'webhook_endpoint':
            raise ValueError(f"object must match const 'webhook_endpoint', got '{object_}'")

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        name = d.pop("name")

        url = d.pop("url")

        event_types = cast(list[str], d.pop("event_types"))


        signing_secret_hint = d.pop("signing_secret_hint")

        def _parse_disabled_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        disabled_at = _parse_disabled_at(d.pop("disabled_at"))


        def _parse_last_failed_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        last_failed_at = _parse_last_failed_at(d.pop("last_failed_at"))


        signing_secret = d.pop("signing_secret")

        webhook_endpoint_with_secret = cls(
            id=id,
            object_=object_,
            created_at=created_at,
            updated_at=updated_at,
            name=name,
            url=url,
            event_types=event_types,
            signing_secret_hint=signing_secret_hint,
            disabled_at=disabled_at,
            last_failed_at=last_failed_at,
            signing_secret=signing_secret,
        )


        webhook_endpoint_with_secret.additional_properties = d
        return webhook_endpoint_with_secret

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
