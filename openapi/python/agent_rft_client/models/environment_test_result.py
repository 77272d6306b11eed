from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.environment_check import EnvironmentCheck
  from ..models.environment_exchange import EnvironmentExchange





T = TypeVar("T", bound="EnvironmentTestResult")



@_attrs_define
class EnvironmentTestResult:
    """ Results of the test of a registered environment.

        Attributes:
            object_ (Literal['environment.test']): Type of the object; each type has one constant value. Default:
                'environment.test'.
            environment_id (str): Id of the environment.
            version (int): Number of the version, from 1.
            name (str): Name of the environment.
            url (str): Address that was called.
            created_at (int): Unix seconds at which the object was made.
            duration_ms (float): Milliseconds of the whole test.
            passed (bool): True when no check failed.
            checks (list[EnvironmentCheck]): The checks, in the order in which they ran.
            exchanges (list[EnvironmentExchange]): Every call with its answer, in order.
     """

    environment_id: str
    version: int
    name: str
    url: str
    created_at: int
    duration_ms: float
    passed: bool
    checks: list[EnvironmentCheck]
    exchanges: list[EnvironmentExchange]
    object_: Literal['environment.test'] = 'environment.test'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.environment_check import EnvironmentCheck # noqa: PLC0415
        from ..models.environment_exchange import EnvironmentExchange # noqa: PLC0415
        object_ = self.object_

        environment_id = self.environment_id

        version = self.version

        name = self.name

        url = self.url

        created_at = self.created_at

        duration_ms = self.duration_ms

        passed = self.passed

        checks = []
        for checks_item_data in self.checks:
            checks_item = checks_item_data.to_dict()
            checks.append(checks_item)



        exchanges = []
        for exchanges_item_data in self.exchanges:
            exchanges_item = exchanges_item_data.to_dict()
            exchanges.append(exchanges_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "environment_id": environment_id,
            "version": version,
            "name": name,
            "url": url,
            "created_at": created_at,
            "duration_ms": duration_ms,
            "passed": passed,
            "checks": checks,
            "exchanges": exchanges,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.environment_check import EnvironmentCheck # noqa: PLC0415
        from ..models.environment_exchange import EnvironmentExchange # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['environment.test'] , d.pop("object"))
        if object_ != 'environment.test':
            raise ValueError(f"object must match const 'environment.test', got '{object_}'")

        environment_id = d.pop("environment_id")

        version = d.pop("version")

        name = d.pop("name")

        url = d.pop("url")

        created_at = d.pop("created_at")

        duration_ms = d.pop("duration_ms")

        passed = d.pop("passed")

        checks = []
        _checks = d.pop("checks")
        for checks_item_data in (_checks):
            checks_item = EnvironmentCheck.from_dict(checks_item_data)



            checks.append(checks_item)


        exchanges = []
        _exchanges = d.pop("exchanges")
        for exchanges_item_data in (_exchanges):
            exchanges_item = EnvironmentExchange.from_dict(exchanges_item_data)



            exchanges.append(exchanges_item)


        environment_test_result = cls(
            object_=object_,
            environment_id=environment_id,
            version=version,
            name=name,
            url=url,
            created_at=created_at,
            duration_ms=duration_ms,
            passed=passed,
            checks=checks,
            exchanges=exchanges,
        )


        environment_test_result.additional_properties = d
        return environment_test_result

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
