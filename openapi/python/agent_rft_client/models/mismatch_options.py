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
  from ..models.geometric_mean_mask import GeometricMeanMask
  from ..models.product_mask import ProductMask
  from ..models.truncation import Truncation





T = TypeVar("T", bound="MismatchOptions")



@_attrs_define
class MismatchOptions:
    """ Corrections for the difference between the engine that samples and the trainer.

        Attributes:
            truncation (Literal['auto'] | None | Truncation | Unset): `auto` is by token in the mode `async` when no loss is
                named, and none otherwise. Default: 'auto'.
            sequence_mask (GeometricMeanMask | None | ProductMask | Unset): Leaves out rollouts that are too far from the
                trained policy; `null` leaves out none.
            max_log_ratio (float | Unset): Tokens whose log-ratio is greater either way have no gradient. Default: 20.0.
     """

    truncation: Literal['auto'] | None | Truncation | Unset = 'auto'
    sequence_mask: GeometricMeanMask | None | ProductMask | Unset = UNSET
    max_log_ratio: float | Unset = 20.0





    def to_dict(self) -> dict[str, Any]:
        from ..models.geometric_mean_mask import GeometricMeanMask # noqa: PLC0415
        from ..models.product_mask import ProductMask # noqa: PLC0415
        from ..models.truncation import Truncation # noqa: PLC0415
        truncation: dict[str, Any] | Literal['auto'] | None | Unset
        if isinstance(self.truncation, Unset):
            truncation = UNSET
        elif isinstance(self.truncation, Truncation):
            truncation = self.truncation.to_dict()
        else:
            truncation = self.truncation

        sequence_mask: dict[str, Any] | None | Unset
        if isinstance(self.sequence_mask, Unset):
            sequence_mask = UNSET
        elif isinstance(self.sequence_mask, GeometricMeanMask):
            sequence_mask = self.sequence_mask.to_dict()
        elif isinstance(self.sequence_mask, ProductMask):
            sequence_mask = self.sequence_mask.to_dict()
        else:
            sequence_mask = self.sequence_mask

        max_log_ratio = self.max_log_ratio


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if truncation is not UNSET:
            field_dict["truncation"] = truncation
        if sequence_mask is not UNSET:
            field_dict["sequence_mask"] = sequence_mask
        if max_log_ratio is not UNSET:
            field_dict["max_log_ratio"] = max_log_ratio

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.geometric_mean_mask import GeometricMeanMask # noqa: PLC0415
        from ..models.product_mask import ProductMask # noqa: PLC0415
        from ..models.truncation import Truncation # noqa: PLC0415
        d = dict(src_dict)
        def _parse_truncation(data: object) -> Literal['auto'] | None | Truncation | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                truncation_type_0 = Truncation.from_dict(data)



                return truncation_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            truncation_type_1 = cast(Literal['auto'] , data)
            if truncation_type_1 != 'auto':
                raise ValueError(f"truncation_type_1 must match const 'auto', got '{truncation_type_1}'")
            return truncation_type_1
            return cast(Literal['auto'] | None | Truncation | Unset, data)

        truncation = _parse_truncation(d.pop("truncation", UNSET))


        def _parse_sequence_mask(data: object) -> GeometricMeanMask | None | ProductMask | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sequence_mask_type_0_type_0 = GeometricMeanMask.from_dict(data)



                return sequence_mask_type_0_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sequence_mask_type_0_type_1 = ProductMask.from_dict(data)



                return sequence_mask_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GeometricMeanMask | None | ProductMask | Unset, data)

        sequence_mask = _parse_sequence_mask(d.pop("sequence_mask", UNSET))


        max_log_ratio = d.pop("max_log_ratio", UNSET)

        mismatch_options = cls(
            truncation=truncation,
            sequence_mask=sequence_mask,
            max_log_ratio=max_log_ratio,
        )

        return mismatch_options

