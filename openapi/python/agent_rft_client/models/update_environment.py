from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.update_environment_headers_type_0 import UpdateEnvironmentHeadersType0
  from ..models.update_environment_metadata_type_0 import UpdateEnvironmentMetadataType0





T = TypeVar("T", bound="UpdateEnvironment")



@_attrs_define
class UpdateEnvironment:
    """ Changes that make a new version of an environment; absent fields do not change, and `null`
    removes an optional key.

        Attributes:
            headers (None | Unset | UpdateEnvironmentHeadersType0): Headers sent with every call; stored encrypted, shown as
                `[redacted]`.
            rate_limit (float | None | Unset): Limit of requests per second from jobs.
            metadata (None | Unset | UpdateEnvironmentMetadataType0): Up to 16 pairs of text of the user's own; the service
                does not read them.
            name (None | str | Unset): Name that no other environment of the project has; messages about lost rollouts have
                it.
            url (None | str | Unset): Address that `reset`, `step` and `close` are POSTed to.
     """

    headers: None | Unset | UpdateEnvironmentHeadersType0 = UNSET
    rate_limit: float | None | Unset = UNSET
    metadata: None | Unset | UpdateEnvironmentMetadataType0 = UNSET
    name: None | str | Unset = UNSET
    url: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.update_environment_headers_type_0 import UpdateEnvironmentHeadersType0 # noqa: PLC0415
        from ..models.update_environment_metadata_type_0 import UpdateEnvironmentMetadataType0 # noqa: PLC0415
        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, UpdateEnvironmentHeadersType0):
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
        elif isinstance(self.metadata, UpdateEnvironmentMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        url: None | str | Unset
        if isinstance(self.url, Unset):
            url = UNSET
        else:
            url = self.url


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if headers is not UNSET:
            field_dict["headers"] = headers
        if rate_limit is not UNSET:
            field_dict["rate_limit"] = rate_limit
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if name is not UNSET:
            field_dict["name"] = name
        if url is not UNSET:
            field_dict["url"] = url

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.update_environment_headers_type_0 import UpdateEnvironmentHeadersType0 # noqa: PLC0415
        from ..models.update_environment_metadata_type_0 import UpdateEnvironmentMetadataType0 # noqa: PLC0415
        d = dict(src_dict)
        def _parse_headers(data: object) -> None | Unset | UpdateEnvironmentHeadersType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = UpdateEnvironmentHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateEnvironmentHeadersType0, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        def _parse_rate_limit(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rate_limit = _parse_rate_limit(d.pop("rate_limit", UNSET))


        def _parse_metadata(data: object) -> None | Unset | UpdateEnvironmentMetadataType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = UpdateEnvironmentMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateEnvironmentMetadataType0, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        def _parse_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        url = _parse_url(d.pop("url", UNSET))


        update_environment = cls(
            headers=headers,
            rate_limit=rate_limit,
            metadata=metadata,
            name=name,
            url=url,
        )


        update_environment.additional_properties = d
        return update_environment

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
