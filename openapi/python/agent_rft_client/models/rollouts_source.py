from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.rollouts_source_split_type_0 import check_rollouts_source_split_type_0
from ..models.rollouts_source_split_type_0 import RolloutsSourceSplitType0
from ..models.stop_reason import check_stop_reason
from ..models.stop_reason import StopReason
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="RolloutsSource")



@_attrs_define
class RolloutsSource:
    """ The rollouts of a reinforcement job that meet every condition. `reinforcement` takes the rows
    that they played, with the measured difficulty; `supervised` their conversations; `dpo` the best
    against the worst answer of each row.

        Attributes:
            type_ (Literal['rollouts']): Rollouts of a job.
            job_id (str): Id of a job that has ended.
            split (None | RolloutsSourceSplitType0 | Unset): Only rollouts of this part.
            step (int | None | Unset): Only rollouts of this step; 0 is the baseline.
            min_reward (float | None | Unset): Only rollouts with at least this reward.
            max_reward (float | None | Unset): Only rollouts with at most this reward.
            stop_reason (None | StopReason | Unset): Only rollouts that ended for this reason.
     """

    type_: Literal['rollouts']
    job_id: str
    split: None | RolloutsSourceSplitType0 | Unset = UNSET
    step: int | None | Unset = UNSET
    min_reward: float | None | Unset = UNSET
    max_reward: float | None | Unset = UNSET
    stop_reason: None | StopReason | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        job_id = self.job_id

        split: None | str | Unset
        if isinstance(self.split, Unset):
            split = UNSET
        elif isinstance(self.split, str):
            split = self.split
        else:
            split = self.split

        step: int | None | Unset
        if isinstance(self.step, Unset):
            step = UNSET
        else:
            step = self.step

        min_reward: float | None | Unset
        if isinstance(self.min_reward, Unset):
            min_reward = UNSET
        else:
            min_reward = self.min_reward

        max_reward: float | None | Unset
        if isinstance(self.max_reward, Unset):
            max_reward = UNSET
        else:
            max_reward = self.max_reward

        stop_reason: None | str | Unset
        if isinstance(self.stop_reason, Unset):
            stop_reason = UNSET
        elif isinstance(self.stop_reason, str):
            stop_reason = self.stop_reason
        else:
            stop_reason = self.stop_reason


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "type": type_,
            "job_id": job_id,
        })
        if split is not UNSET:
            field_dict["split"] = split
        if step is not UNSET:
            field_dict["step"] = step
        if min_reward is not UNSET:
            field_dict["min_reward"] = min_reward
        if max_reward is not UNSET:
            field_dict["max_reward"] = max_reward
        if stop_reason is not UNSET:
            field_dict["stop_reason"] = stop_reason

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = cast(Literal['rollouts'] , d.pop("type"))
        if type_ != 'rollouts':
            raise ValueError(f"type must match const 'rollouts', got '{type_}'")

        job_id = d.pop("job_id")

        def _parse_split(data: object) -> None | RolloutsSourceSplitType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                split_type_0 = check_rollouts_source_split_type_0(data)



                return split_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RolloutsSourceSplitType0 | Unset, data)

        split = _parse_split(d.pop("split", UNSET))


        def _parse_step(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        step = _parse_step(d.pop("step", UNSET))


        def _parse_min_reward(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        min_reward = _parse_min_reward(d.pop("min_reward", UNSET))


        def _parse_max_reward(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        max_reward = _parse_max_reward(d.pop("max_reward", UNSET))


        def _parse_stop_reason(data: object) -> None | StopReason | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                stop_reason_type_0 = check_stop_reason(data)



                return stop_reason_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StopReason | Unset, data)

        stop_reason = _parse_stop_reason(d.pop("stop_reason", UNSET))


        rollouts_source = cls(
            type_=type_,
            job_id=job_id,
            split=split,
            step=step,
            min_reward=min_reward,
            max_reward=max_reward,
            stop_reason=stop_reason,
        )

        return rollouts_source

