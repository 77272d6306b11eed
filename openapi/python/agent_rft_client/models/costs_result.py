from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.costs_result_line_item_type_0 import check_costs_result_line_item_type_0
from ..models.costs_result_line_item_type_0 import CostsResultLineItemType0
from ..models.costs_result_quantity_unit_type_0 import check_costs_result_quantity_unit_type_0
from ..models.costs_result_quantity_unit_type_0 import CostsResultQuantityUnitType0
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.cost_amount import CostAmount





T = TypeVar("T", bound="CostsResult")



@_attrs_define
class CostsResult:
    """ The cost of usage, at the prices that were configured then.

        Attributes:
            project_id (None | str): The project, when results are grouped by it.
            api_key_id (None | str): The API key that called, or that created the job, when results are grouped by it.
            object_ (Literal['organization.costs.result']): Type of the object; each type has one constant value. Default:
                'organization.costs.result'.
            amount (CostAmount | None): The cost; `null`: there was no price.
            line_item (CostsResultLineItemType0 | None): The usage that is paid for, when results are grouped by it.
            quantity (float | None): Seconds of training, or tokens of completions, when results are grouped by `line_item`.
            quantity_unit (CostsResultQuantityUnitType0 | None): Unit of the quantity.
     """

    project_id: None | str
    api_key_id: None | str
    amount: CostAmount | None
    line_item: CostsResultLineItemType0 | None
    quantity: float | None
    quantity_unit: CostsResultQuantityUnitType0 | None
    object_: Literal['organization.costs.result'] = 'organization.costs.result'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.cost_amount import CostAmount # noqa: PLC0415
        project_id: None | str
        project_id = self.project_id

        api_key_id: None | str
        api_key_id = self.api_key_id

        object_ = self.object_

        amount: dict[str, Any] | None
        if isinstance(self.amount, CostAmount):
            amount = self.amount.to_dict()
        else:
            amount = self.amount

        line_item: None | str
        if isinstance(self.line_item, str):
            line_item = self.line_item
        else:
            line_item = self.line_item

        quantity: float | None
        quantity = self.quantity

        quantity_unit: None | str
        if isinstance(self.quantity_unit, str):
            quantity_unit = self.quantity_unit
        else:
            quantity_unit = self.quantity_unit


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "project_id": project_id,
            "api_key_id": api_key_id,
            "object": object_,
            "amount": amount,
            "line_item": line_item,
            "quantity": quantity,
            "quantity_unit": quantity_unit,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cost_amount import CostAmount # noqa: PLC0415
        d = dict(src_dict)
        def _parse_project_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        project_id = _parse_project_id(d.pop("project_id"))


        def _parse_api_key_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        api_key_id = _parse_api_key_id(d.pop("api_key_id"))


        object_ = cast(Literal['organization.costs.result'] , d.pop("object"))
        if object_ != 'organization.costs.result':
            raise ValueError(f"object must match const 'organization.costs.result', got '{object_}'")

        def _parse_amount(data: object) -> CostAmount | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                amount_type_0 = CostAmount.from_dict(data)



                return amount_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CostAmount | None, data)

        amount = _parse_amount(d.pop("amount"))


        def _parse_line_item(data: object) -> CostsResultLineItemType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                line_item_type_0 = check_costs_result_line_item_type_0(data)



                return line_item_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CostsResultLineItemType0 | None, data)

        line_item = _parse_line_item(d.pop("line_item"))


        def _parse_quantity(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        quantity = _parse_quantity(d.pop("quantity"))


        def _parse_quantity_unit(data: object) -> CostsResultQuantityUnitType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                quantity_unit_type_0 = check_costs_result_quantity_unit_type_0(data)



                return quantity_unit_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CostsResultQuantityUnitType0 | None, data)

        quantity_unit = _parse_quantity_unit(d.pop("quantity_unit"))


        costs_result = cls(
            project_id=project_id,
            api_key_id=api_key_id,
            object_=object_,
            amount=amount,
            line_item=line_item,
            quantity=quantity,
            quantity_unit=quantity_unit,
        )


        costs_result.additional_properties = d
        return costs_result

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
