from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.create_environment_headers_type_0 import CreateEnvironmentHeadersType0
  from ..models.create_environment_metadata_type_0 import CreateEnvironmentMetadataType0





T = TypeVar("T", bound="CreateEnvironment")



@_attrs_define
class CreateEnvironment:
    """ A new registered environment.

        Attributes:
            name (str): Unique name in the project, used in messages about lost rollouts.
            url (str): Address that `reset`, `step` and `close` are POSTed to.
            headers (CreateEnvironmentHeadersType0 | None | Unset): Headers sent with every call; stored encrypted, shown as
                `[redacted]`.
            rate_limit (float | None | Unset): Limit of requests per second from jobs.
            metadata (CreateEnvironmentMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the service
                does not read them.
            type_ (Literal['http'] | Unset): Kind of the environment. Default: 'http'.
     """

    name: str
    url: str
    headers: CreateEnvironmentHeadersType0 | None | Unset = UNSET
    rate_limit: float | None | Unset = UNSET
    metadata: CreateEnvironmentMetadataType0 | None | Unset = UNSET
    type_: Literal['http'] | Unset = 'http'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.create_environment_headers_type_0 import CreateEnvironmentHeadersType0 # noqa: PLC0415
        from ..models.create_environment_metadata_type_0 import CreateEnvironmentMetadataType0 # noqa: PLC0415
        name = self.name

        url = self.url

        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, CreateEnvironmentHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        rate_limit: float | None | Unset
        if isinstance(self.rate_limit, Unset):
            rate_limit = UNSET
        else:
            rate_limit = self.rate_limit

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CreateEnvironmentMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        type_ = self.type_


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "name": name,
            "url": url,
        })
        if headers is not UNSET:
            field_dict["headers"] = headers
        if rate_limit is not UNSET:
            field_dict["rate_limit"] = rate_limit
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.create_environment_headers_type_0 import CreateEnvironmentHeadersType0 # noqa: PLC0415
        from ..models.create_environment_metadata_type_0 import CreateEnvironmentMetadataType0 # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name")

        url = d.pop("url")

        def _parse_headers(data: object) -> CreateEnvironmentHeadersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = CreateEnvironmentHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateEnvironmentHeadersType0 | None | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        def _parse_rate_limit(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rate_limit = _parse_rate_limit(d.pop("rate_limit", UNSET))


        def _parse_metadata(data: object) -> CreateEnvironmentMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateEnvironmentMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateEnvironmentMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        type_ = cast(Literal['http'] | Unset , d.pop("type", UNSET))
        if type_ != 'http'and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'http', got '{type_}'")

        create_environment = cls(
            name=name,
            url=url,
            headers=headers,
            rate_limit=rate_limit,
            metadata=metadata,
            type_=type_,
        )


        create_environment.additional_properties = d
        return create_environment

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
