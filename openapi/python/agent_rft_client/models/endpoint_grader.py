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
  from ..models.endpoint_grader_headers_type_0 import EndpointGraderHeadersType0





T = TypeVar("T", bound="EndpointGrader")



@_attrs_define
class EndpointGrader:
    """ The customer's own HTTP grader: POST `{sample, item, trace_id}`, reply `{"score": …}`.

        Attributes:
            type_ (Literal['endpoint']): Selects the kind of the object.
            url (str): Address that samples are sent to.
            pass_threshold (float | None | Unset): Lowest score that counts as passed in displayed results; it does not
                change the reward.
            name (str | Unset): Name for readers; it need not be unique. Default: 'endpoint'.
            headers (EndpointGraderHeadersType0 | None | Unset): Headers sent with every request; stored encrypted, shown as
                `[redacted]`.
            rate_limit (float | None | Unset): Requests per second this job may send to it.
     """

    type_: Literal['endpoint']
    url: str
    pass_threshold: float | None | Unset = UNSET
    name: str | Unset = 'endpoint'
    headers: EndpointGraderHeadersType0 | None | Unset = UNSET
    rate_limit: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.endpoint_grader_headers_type_0 import EndpointGraderHeadersType0 # noqa: PLC0415
        type_ = self.type_

        url = self.url

        pass_threshold: float | None | Unset
        if isinstance(self.pass_threshold, Unset):
            pass_threshold = UNSET
        else:
            pass_threshold = self.pass_threshold

        name = self.name

        headers: dict[str, Any] | None | Unset
        if isinstance(self.headers, Unset):
            headers = UNSET
        elif isinstance(self.headers, EndpointGraderHeadersType0):
            headers = self.headers.to_dict()
        else:
            headers = self.headers

        rate_limit: float | None | Unset
        if isinstance(self.rate_limit, Unset):
            rate_limit = UNSET
        else:
            rate_limit = self.rate_limit


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
            "url": url,
        })
        if pass_threshold is not UNSET:
            field_dict["pass_threshold"] = pass_threshold
        if name is not UNSET:
            field_dict["name"] = name
        if headers is not UNSET:
            field_dict["headers"] = headers
        if rate_limit is not UNSET:
            field_dict["rate_limit"] = rate_limit

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.endpoint_grader_headers_type_0 import EndpointGraderHeadersType0 # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['endpoint'] , d.pop("type"))
        if type_ != 'endpoint':
            raise ValueError(f"type must match const 'endpoint', got '{type_}'")

        url = d.pop("url")

        def _parse_pass_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        pass_threshold = _parse_pass_threshold(d.pop("pass_threshold", UNSET))


        name = d.pop("name", UNSET)

        def _parse_headers(data: object) -> EndpointGraderHeadersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                headers_type_0 = EndpointGraderHeadersType0.from_dict(data)



                return headers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EndpointGraderHeadersType0 | None | Unset, data)

        headers = _parse_headers(d.pop("headers", UNSET))


        def _parse_rate_limit(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rate_limit = _parse_rate_limit(d.pop("rate_limit", UNSET))


        endpoint_grader = cls(
            type_=type_,
            url=url,
            pass_threshold=pass_threshold,
            name=name,
            headers=headers,
            rate_limit=rate_limit,
        )


        endpoint_grader.additional_properties = d
        return endpoint_grader

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
