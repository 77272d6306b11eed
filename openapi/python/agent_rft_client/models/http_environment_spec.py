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
  from ..models.http_environment_spec_headers_type_0 import HttpEnvironmentSpecHeadersType0





T = TypeVar("T", bound="HttpEnvironmentSpec")



@_attrs_define
class HttpEnvironmentSpec:
    """ An environment at a customer's address: `reset`, `step` and `close` are POSTed there. It
    offers the tools, answers each turn, and may give the reward.

        Attributes:
            type_ (Literal['http']): Selects the kind of the object.
            url (str): Address that `reset`, `step` and `close` are POSTed to.
            name (str | Unset): Name in messages about lost rollouts. Default: 'environment'.
            headers (HttpEnvironmentSpecHeadersType0 | None | Unset): Headers sent with every call; stored encrypted, shown
                as `[redacted]`.
            rate_limit (float | None | Unset): Limit of requests per second.
            id (None | str | Unset): Id of the registered environment that it was copied from.
            version (int | None | Unset): Version of that registered environment.
     """

    type_: Literal['http']
    url: str
    name: str | Unset = 'environment'
    headers: HttpEnvironmentSpecHeadersType0 | None | Unset = UNSET
    rate_limit: float | None | Unset = UNSET
    id: None | str | Unset = UNSET
    version: int | None | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.http_environment_spec_headers_type_0 import HttpEnvironmentSpecHeadersType0 # noqa: PLC0415
        type_ = self.type_

        url = self.url

        name = self.name

        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, HttpEnvironmentSpecHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        rate_limit: float | None | Unset
        if isinstance(self.rate_limit, Unset):
            rate_limit = UNSET
        else:
            rate_limit = self.rate_limit

        id: None | str | Unset
        if isinstance(self.id, Unset):
            id = UNSET
        else:
            id = self.id

        version: int | None | Unset
        if isinstance(self.version, Unset):
            version = UNSET
        else:
            version = self.version


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "type": type_,
            "url": url,
        })
        if name is not UNSET:
            field_dict["name"] = name
        if headers is not UNSET:
            field_dict["headers"] = headers
        if rate_limit is not UNSET:
            field_dict["rate_limit"] = rate_limit
        if id is not UNSET:
            field_dict["id"] = id
        if version is not UNSET:
            field_dict["version"] = version

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.http_environment_spec_headers_type_0 import HttpEnvironmentSpecHeadersType0 # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['http'] , d.pop("type"))
        if type_ != 'http':
            raise ValueError(f"type must match const 'http', got '{type_}'")

        url = d.pop("url")

        name = d.pop("name", UNSET)

        def _parse_headers(data: object) -> HttpEnvironmentSpecHeadersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = HttpEnvironmentSpecHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(HttpEnvironmentSpecHeadersType0 | None | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        def _parse_rate_limit(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rate_limit = _parse_rate_limit(d.pop("rate_limit", UNSET))


        def _parse_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        id = _parse_id(d.pop("id", UNSET))


        def _parse_version(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        version = _parse_version(d.pop("version", UNSET))


        http_environment_spec = cls(
            type_=type_,
            url=url,
            name=name,
            headers=headers,
            rate_limit=rate_limit,
            id=id,
            version=version,
        )

        return http_environment_spec

