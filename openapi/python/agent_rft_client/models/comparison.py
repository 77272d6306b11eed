from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast






T = TypeVar("T", bound="Comparison")



@_attrs_define
class Comparison:
    """ One value under the compared models: means over the held-out rows that have this value
    before and after training.

        Attributes:
            base_mean (float | None | Unset): Mean of the base model; `null` if it was not measured.
            start_mean (float | None | Unset): Mean of the model that training started from: the base model, or a tuned one.
            start_ci95 (list[float] | None | Unset): 95 % interval of `start_mean` over rows: bootstrap, or by the range of
                the values where fewer than 5 rows differ from the most common value, and for values of 0 and 1 alone (Clopper
                and Pearson). `null` for fewer than 6 rows, and for almost equal values without a range (losses, log-probs, tool
                calls).
            tuned_mean (float | None | Unset): Mean of the published model.
            tuned_ci95 (list[float] | None | Unset): 95 % interval of `tuned_mean` over rows; computed, and `null`, as that
                of `start_mean`.
            difference (float | None | Unset): Mean over rows of tuned less start.
            difference_ci95 (list[float] | None | Unset): 95 % interval of `difference` by the differences of the rows;
                computed, and `null`, as that of `start_mean`. Where the same rows chose the published checkpoint it is wider,
                by Bonferroni's inequality.
     """

    base_mean: float | None | Unset = UNSET
    start_mean: float | None | Unset = UNSET
    start_ci95: list[float] | None | Unset = UNSET
    tuned_mean: float | None | Unset = UNSET
    tuned_ci95: list[float] | None | Unset = UNSET
    difference: float | None | Unset = UNSET
    difference_ci95: list[float] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        base_mean: float | None | Unset
        if isinstance(self.base_mean, Unset):
            base_mean = UNSET
        else:
            base_mean = self.base_mean

        start_mean: float | None | Unset
        if isinstance(self.start_mean, Unset):
            start_mean = UNSET
        else:
            start_mean = self.start_mean

        start_ci95: list[float] | None | Unset
        if isinstance(self.start_ci95, Unset):
            start_ci95 = UNSET
        elif isinstance(self.start_ci95, list):
            start_ci95 = self.start_ci95


        else:
            start_ci95 = self.start_ci95

        tuned_mean: float | None | Unset
        if isinstance(self.tuned_mean, Unset):
            tuned_mean = UNSET
        else:
            tuned_mean = self.tuned_mean

        tuned_ci95: list[float] | None | Unset
        if isinstance(self.tuned_ci95, Unset):
            tuned_ci95 = UNSET
        elif isinstance(self.tuned_ci95, list):
            tuned_ci95 = self.tuned_ci95


        else:
            tuned_ci95 = self.tuned_ci95

        difference: float | None | Unset
        if isinstance(self.difference, Unset):
            difference = UNSET
        else:
            difference = self.difference

        difference_ci95: list[float] | None | Unset
        if isinstance(self.difference_ci95, Unset):
            difference_ci95 = UNSET
        elif isinstance(self.difference_ci95, list):
            difference_ci95 = self.difference_ci95


        else:
            difference_ci95 = self.difference_ci95


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if base_mean is not UNSET:
            field_dict["base_mean"] = base_mean
        if start_mean is not UNSET:
            field_dict["start_mean"] = start_mean
        if start_ci95 is not UNSET:
            field_dict["start_ci95"] = start_ci95
        if tuned_mean is not UNSET:
            field_dict["tuned_mean"] = tuned_mean
        if tuned_ci95 is not UNSET:
            field_dict["tuned_ci95"] = tuned_ci95
        if difference is not UNSET:
            field_dict["difference"] = difference
        if difference_ci95 is not UNSET:
            field_dict["difference_ci95"] = difference_ci95

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_base_mean(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        base_mean = _parse_base_mean(d.pop("base_mean", UNSET))


        def _parse_start_mean(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        start_mean = _parse_start_mean(d.pop("start_mean", UNSET))


        def _parse_start_ci95(data: object) -> list[float] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                start_ci95_type_0 = cast(list[float], data)

                return start_ci95_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[float] | None | Unset, data)

        start_ci95 = _parse_start_ci95(d.pop("start_ci95", UNSET))


        def _parse_tuned_mean(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        tuned_mean = _parse_tuned_mean(d.pop("tuned_mean", UNSET))


        def _parse_tuned_ci95(data: object) -> list[float] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tuned_ci95_type_0 = cast(list[float], data)

                return tuned_ci95_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[float] | None | Unset, data)

        tuned_ci95 = _parse_tuned_ci95(d.pop("tuned_ci95", UNSET))


        def _parse_difference(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        difference = _parse_difference(d.pop("difference", UNSET))


        def _parse_difference_ci95(data: object) -> list[float] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                difference_ci95_type_0 = cast(list[float], data)

                return difference_ci95_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[float] | None | Unset, data)

        difference_ci95 = _parse_difference_ci95(d.pop("difference_ci95", UNSET))


        comparison = cls(
            base_mean=base_mean,
            start_mean=start_mean,
            start_ci95=start_ci95,
            tuned_mean=tuned_mean,
            tuned_ci95=tuned_ci95,
            difference=difference,
            difference_ci95=difference_ci95,
        )


        comparison.additional_properties = d
        return comparison

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
