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
  from ..models.overlong_options import OverlongOptions





T = TypeVar("T", bound="ObjectiveOptions")



@_attrs_define
class ObjectiveOptions:
    """ Terms of the value from which advantages are computed; the displayed reward stays the
    grader's. All are off by default except a light token penalty.

        Attributes:
            token_penalty (float | Unset): Reward lost by a rollout of `token_budget` sampled tokens or more, and
                proportionally less by a shorter one. It is scaled down in groups with small differences of reward, so that no
                worse rollout becomes the better one. Default: 0.02.
            token_budget (int | Literal['auto'] | Unset): `auto` is the base model's limit of tokens of one turn, adjusted
                to the job's reasoning effort. Default: 'auto'.
            call_budget (int | None | Unset): Tool calls that cost nothing; `null` is no budget.
            call_budget_penalty (float | Unset): Per call over the budget, for at most ten. Default: 0.05.
            repeated_call_penalty (float | Unset): Per call with the name and arguments of an earlier one, for at most ten.
                Default: 0.0.
            overlong (None | OverlongOptions | Unset): A penalty on long rollouts; `null` is none.
            clamp_limit_stop (bool | Unset): A rollout that a limit stopped earns at most 0. Default: False.
            kl_coefficient (float | Unset): Advantage lost by a token per nat by which it is more likely under the policy
                than under the start model, relative to the other tokens of its group. Default: 0.0.
     """

    token_penalty: float | Unset = 0.02
    token_budget: int | Literal['auto'] | Unset = 'auto'
    call_budget: int | None | Unset = UNSET
    call_budget_penalty: float | Unset = 0.05
    repeated_call_penalty: float | Unset = 0.0
    overlong: None | OverlongOptions | Unset = UNSET
    clamp_limit_stop: bool | Unset = False
    kl_coefficient: float | Unset = 0.0





    def to_dict(self) -> dict[str, Any]:
        from ..models.overlong_options import OverlongOptions # noqa: PLC0415
        token_penalty = self.token_penalty

        token_budget: int | Literal['auto'] | Unset
        if isinstance(self.token_budget, Unset):
            token_budget = UNSET
        else:
            token_budget = self.token_budget

        call_budget: int | None | Unset
        if isinstance(self.call_budget, Unset):
            call_budget = UNSET
        else:
            call_budget = self.call_budget

        call_budget_penalty = self.call_budget_penalty

        repeated_call_penalty = self.repeated_call_penalty

        overlong: dict[str, Any] | None | Unset
        if isinstance(self.overlong, Unset):
            overlong = UNSET
        elif isinstance(self.overlong, OverlongOptions):
            overlong = self.overlong.to_dict()
        else:
            overlong = self.overlong

        clamp_limit_stop = self.clamp_limit_stop

        kl_coefficient = self.kl_coefficient


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if token_penalty is not UNSET:
            field_dict["token_penalty"] = token_penalty
        if token_budget is not UNSET:
            field_dict["token_budget"] = token_budget
        if call_budget is not UNSET:
            field_dict["call_budget"] = call_budget
        if call_budget_penalty is not UNSET:
            field_dict["call_budget_penalty"] = call_budget_penalty
        if repeated_call_penalty is not UNSET:
            field_dict["repeated_call_penalty"] = repeated_call_penalty
        if overlong is not UNSET:
            field_dict["overlong"] = overlong
        if clamp_limit_stop is not UNSET:
            field_dict["clamp_limit_stop"] = clamp_limit_stop
        if kl_coefficient is not UNSET:
            field_dict["kl_coefficient"] = kl_coefficient

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.overlong_options import OverlongOptions # noqa: PLC0415
        d = dict(src_dict)
        token_penalty = d.pop("token_penalty", UNSET)

        def _parse_token_budget(data: object) -> int | Literal['auto'] | Unset:
            if isinstance(data, Unset):
                return data
            token_budget_type_1 = cast(Literal['auto'] , data)
            if token_budget_type_1 != 'auto':
                raise ValueError(f"token_budget_type_1 must match const 'auto', got '{token_budget_type_1}'")
            return token_budget_type_1
            return cast(int | Literal['auto'] | Unset, data)

        token_budget = _parse_token_budget(d.pop("token_budget", UNSET))


        def _parse_call_budget(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        call_budget = _parse_call_budget(d.pop("call_budget", UNSET))


        call_budget_penalty = d.pop("call_budget_penalty", UNSET)

        repeated_call_penalty = d.pop("repeated_call_penalty", UNSET)

        def _parse_overlong(data: object) -> None | OverlongOptions | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                overlong_type_0 = OverlongOptions.from_dict(data)



                return overlong_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OverlongOptions | Unset, data)

        overlong = _parse_overlong(d.pop("overlong", UNSET))


        clamp_limit_stop = d.pop("clamp_limit_stop", UNSET)

        kl_coefficient = d.pop("kl_coefficient", UNSET)

        objective_options = cls(
            token_penalty=token_penalty,
            token_budget=token_budget,
            call_budget=call_budget,
            call_budget_penalty=call_budget_penalty,
            repeated_call_penalty=repeated_call_penalty,
            overlong=overlong,
            clamp_limit_stop=clamp_limit_stop,
            kl_coefficient=kl_coefficient,
        )

        return objective_options

