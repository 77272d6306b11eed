from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.comparison import Comparison
  from ..models.regression import Regression
  from ..models.reward_comparison_components import RewardComparisonComponents





T = TypeVar("T", bound="RewardComparison")



@_attrs_define
class RewardComparison:
    """ Rewards of the held-out rows before and after training.

        Attributes:
            rows (int): Rows that were graded before and after training.
            wins (int): Rows that became better.
            ties (int): Rows that stayed the same.
            losses (int): Rows that became worse.
            regressions (list[Regression]): The rows that became worse, worst first.
            reward (Comparison): One value under the compared models: means over the held-out rows that have this value
                before and after training.
            tool_calls (Comparison): One value under the compared models: means over the held-out rows that have this value
                before and after training.
            components (RewardComparisonComponents): Numbers that the grader reports besides the reward, by name.
     """

    rows: int
    wins: int
    ties: int
    losses: int
    regressions: list[Regression]
    reward: Comparison
    tool_calls: Comparison
    components: RewardComparisonComponents
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.comparison import Comparison # noqa: PLC0415
        from ..models.regression import Regression # noqa: PLC0415
        from ..models.reward_comparison_components import RewardComparisonComponents # noqa: PLC0415
        rows = self.rows

        wins = self.wins

        ties = self.ties

        losses = self.losses

        regressions = []
        for regressions_item_data in self.regressions:
            regressions_item = regressions_item_data.to_dict()
            regressions.append(regressions_item)



        reward = self.reward.to_dict()

        tool_calls = self.tool_calls.to_dict()

        components = self.components.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "rows": rows,
            "wins": wins,
            "ties": ties,
            "losses": losses,
            "regressions": regressions,
            "reward": reward,
            "tool_calls": tool_calls,
            "components": components,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.comparison import Comparison # noqa: PLC0415
        from ..models.regression import Regression # noqa: PLC0415
        from ..models.reward_comparison_components import RewardComparisonComponents # noqa: PLC0415
        d = dict(src_dict)
        rows = d.pop("rows")

        wins = d.pop("wins")

        ties = d.pop("ties")

        losses = d.pop("losses")

        regressions = []
        _regressions = d.pop("regressions")
        for regressions_item_data in (_regressions):
            regressions_item = Regression.from_dict(regressions_item_data)



            regressions.append(regressions_item)


        reward = Comparison.from_dict(d.pop("reward"))




        tool_calls = Comparison.from_dict(d.pop("tool_calls"))




        components = RewardComparisonComponents.from_dict(d.pop("components"))




        reward_comparison = cls(
            rows=rows,
            wins=wins,
            ties=ties,
            losses=losses,
            regressions=regressions,
            reward=reward,
            tool_calls=tool_calls,
            components=components,
        )


        reward_comparison.additional_properties = d
        return reward_comparison

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
