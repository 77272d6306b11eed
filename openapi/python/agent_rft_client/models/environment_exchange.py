from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.environment_exchange_sent import EnvironmentExchangeSent





T = TypeVar("T", bound="EnvironmentExchange")



@_attrs_define
class EnvironmentExchange:
    """ One call of a test, with its answer.

        Attributes:
            call (str): `reset`, `step`, `step again` or `close`.
            sent (EnvironmentExchangeSent): The body that was sent.
            status (int | None): Status of the answer; `null` where there was none.
            answered (None | str): The beginning of the answer's body.
            latency_ms (float | None): Milliseconds until the answer.
     """

    call: str
    sent: EnvironmentExchangeSent
    status: int | None
    answered: None | str
    latency_ms: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.environment_exchange_sent import EnvironmentExchangeSent # noqa: PLC0415
        call = self.call

        sent = self.sent.to_dict()

        status: int | None
        status = self.status

        answered: None | str
        answered = self.answered

        latency_ms: float | None
        latency_ms = self.latency_ms


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "call": call,
            "sent": sent,
            "status": status,
            "answered": answered,
            "latency_ms": latency_ms,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.environment_exchange_sent import EnvironmentExchangeSent # noqa: PLC0415
        d = dict(src_dict)
        call = d.pop("call")

        sent = EnvironmentExchangeSent.from_dict(d.pop("sent"))




        def _parse_status(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        status = _parse_status(d.pop("status"))


        def _parse_answered(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        answered = _parse_answered(d.pop("answered"))


        def _parse_latency_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        latency_ms = _parse_latency_ms(d.pop("latency_ms"))


        environment_exchange = cls(
            call=call,
            sent=sent,
            status=status,
            answered=answered,
            latency_ms=latency_ms,
        )


        environment_exchange.additional_properties = d
        return environment_exchange

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
