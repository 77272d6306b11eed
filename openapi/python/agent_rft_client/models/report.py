from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.report_wins_by_type_0 import check_report_wins_by_type_0
from ..models.report_wins_by_type_0 import ReportWinsByType0
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.comparison import Comparison
  from ..models.implicit_rewards import ImplicitRewards
  from ..models.over_all import OverAll
  from ..models.regression import Regression
  from ..models.report_components_type_0 import ReportComponentsType0
  from ..models.report_ended_early_type_0 import ReportEndedEarlyType0
  from ..models.reward_comparison import RewardComparison





T = TypeVar("T", bound="Report")



@_attrs_define
class Report:
    """ The model that training started from against the published one, on the held-out rows.

        Attributes:
            object_ (Literal['fine_tuning.job.report']):
            job_id (str): The job.
            method (None | str): `reinforcement`, `supervised` or `dpo`.
            base_model (str): Name of the base model.
            start_model (str): Name of the model that training started from.
            step (int): The published step.
            ended_early (None | ReportEndedEarlyType0): The stop rule that ended the job, if one did.
            rows (int): Rows that are compared.
            rows_left_out (int | None): Rows with a value that is not finite before or after training (supervised and DPO).
            wins_by (None | ReportWinsByType0): The measure by which a row is better: a higher reward, a smaller loss, or
                the order of a
                pair's answers by log-prob.
            wins (int): Rows that became better.
            ties (int): Rows that stayed the same.
            losses (int): Rows that became worse.
            regressions (list[Regression]): The rows that became worse, worst first. For pairs: log-prob of the preferred
                answer less
                that of the rejected one.
            eval_temperature (float | None): Temperature of the held-out rollouts (reinforcement).
            eval_samples (int | None): Rollouts of each held-out row (reinforcement).
            reward (Comparison | None): The grader's rewards (reinforcement).
            tool_calls (Comparison | None): Tool calls per rollout (reinforcement).
            components (None | ReportComponentsType0): Numbers that the grader reports beside the reward, by name
                (reinforcement).
            greedy (None | RewardComparison): The same for one rollout of each row at temperature 0 (reinforcement).
            loss (Comparison | None): Loss of a row (supervised and DPO).
            token_accuracy (Comparison | None): Share of a row's learned tokens that are the most probable one (supervised).
            preference_accuracy (Comparison | None): Share of pairs whose preferred answer is more probable than the
                rejected one (DPO).
            chosen_logprob (Comparison | None): Log-prob of a whole preferred answer (DPO).
            rejected_logprob (Comparison | None): Log-prob of a whole rejected answer (DPO).
            chosen_less_probable (int | None): Pairs whose preferred answer became less probable (DPO).
            implicit_rewards (ImplicitRewards | None): Values of the tuned model against the start (DPO).
            full_valid_loss (None | OverAll): Loss over all held-out rows (supervised and DPO).
            full_valid_mean_token_accuracy (None | OverAll): Token accuracy over all held-out rows (supervised).
            full_valid_preference_accuracy (None | OverAll): Accuracy by log-prob over all held-out pairs (DPO).
     """

    object_: Literal['fine_tuning.job.report']
    job_id: str
    method: None | str
    base_model: str
    start_model: str
    step: int
    ended_early: None | ReportEndedEarlyType0
    rows: int
    rows_left_out: int | None
    wins_by: None | ReportWinsByType0
    wins: int
    ties: int
    losses: int
    regressions: list[Regression]
    eval_temperature: float | None
    eval_samples: int | None
    reward: Comparison | None
    tool_calls: Comparison | None
    components: None | ReportComponentsType0
    greedy: None | RewardComparison
    loss: Comparison | None
    token_accuracy: Comparison | None
    preference_accuracy: Comparison | None
    chosen_logprob: Comparison | None
    rejected_logprob: Comparison | None
    chosen_less_probable: int | None
    implicit_rewards: ImplicitRewards | None
    full_valid_loss: None | OverAll
    full_valid_mean_token_accuracy: None | OverAll
    full_valid_preference_accuracy: None | OverAll
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.comparison import Comparison # noqa: PLC0415
        from ..models.implicit_rewards import ImplicitRewards # noqa: PLC0415
        from ..models.over_all import OverAll # noqa: PLC0415
        from ..models.regression import Regression # noqa: PLC0415
        from ..models.report_components_type_0 import ReportComponentsType0 # noqa: PLC0415
        from ..models.report_ended_early_type_0 import ReportEndedEarlyType0 # noqa: PLC0415
        from ..models.reward_comparison import RewardComparison # noqa: PLC0415
        object_ = self.object_

        job_id = self.job_id

        method: None | str
        method = self.method

        base_model = self.base_model

        start_model = self.start_model

        step = self.step

        ended_early: dict[str, Any] | None
        if isinstance(self.ended_early, ReportEndedEarlyType0):
            ended_early = self.ended_early.to_dict()
        else:
            ended_early = self.ended_early

        rows = self.rows

        rows_left_out: int | None
        rows_left_out = self.rows_left_out

        wins_by: None | str
        if isinstance(self.wins_by, str):
            wins_by = self.wins_by
        else:
            wins_by = self.wins_by

        wins = self.wins

        ties = self.ties

        losses = self.losses

        regressions = []
        for regressions_item_data in self.regressions:
            regressions_item = regressions_item_data.to_dict()
            regressions.append(regressions_item)



        eval_temperature: float | None
        eval_temperature = self.eval_temperature

        eval_samples: int | None
        eval_samples = self.eval_samples

        reward: dict[str, Any] | None
        if isinstance(self.reward, Comparison):
            reward = self.reward.to_dict()
        else:
            reward = self.reward

        tool_calls: dict[str, Any] | None
        if isinstance(self.tool_calls, Comparison):
            tool_calls = self.tool_calls.to_dict()
        else:
            tool_calls = self.tool_calls

        components: dict[str, Any] | None
        if isinstance(self.components, ReportComponentsType0):
            components = self.components.to_dict()
        else:
            components = self.components

        greedy: dict[str, Any] | None
        if isinstance(self.greedy, RewardComparison):
            greedy = self.greedy.to_dict()
        else:
            greedy = self.greedy

        loss: dict[str, Any] | None
        if isinstance(self.loss, Comparison):
            loss = self.loss.to_dict()
        else:
            loss = self.loss

        token_accuracy: dict[str, Any] | None
        if isinstance(self.token_accuracy, Comparison):
            token_accuracy = self.token_accuracy.to_dict()
        else:
            token_accuracy = self.token_accuracy

        preference_accuracy: dict[str, Any] | None
        if isinstance(self.preference_accuracy, Comparison):
            preference_accuracy = self.preference_accuracy.to_dict()
        else:
            preference_accuracy = self.preference_accuracy

        chosen_logprob: dict[str, Any] | None
        if isinstance(self.chosen_logprob, Comparison):
            chosen_logprob = self.chosen_logprob.to_dict()
        else:
            chosen_logprob = self.chosen_logprob

        rejected_logprob: dict[str, Any] | None
        if isinstance(self.rejected_logprob, Comparison):
            rejected_logprob = self.rejected_logprob.to_dict()
        else:
            rejected_logprob = self.rejected_logprob

        chosen_less_probable: int | None
        chosen_less_probable = self.chosen_less_probable

        implicit_rewards: dict[str, Any] | None
        if isinstance(self.implicit_rewards, ImplicitRewards):
            implicit_rewards = self.implicit_rewards.to_dict()
        else:
            implicit_rewards = self.implicit_rewards

        full_valid_loss: dict[str, Any] | None
        if isinstance(self.full_valid_loss, OverAll):
            full_valid_loss = self.full_valid_loss.to_dict()
        else:
            full_valid_loss = self.full_valid_loss

        full_valid_mean_token_accuracy: dict[str, Any] | None
        if isinstance(self.full_valid_mean_token_accuracy, OverAll):
            full_valid_mean_token_accuracy = self.full_valid_mean_token_accuracy.to_dict()
        else:
            full_valid_mean_token_accuracy = self.full_valid_mean_token_accuracy

        full_valid_preference_accuracy: dict[str, Any] | None
        if isinstance(self.full_valid_preference_accuracy, OverAll):
            full_valid_preference_accuracy = self.full_valid_preference_accuracy.to_dict()
        else:
            full_valid_preference_accuracy = self.full_valid_preference_accuracy


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "job_id": job_id,
            "method": method,
            "base_model": base_model,
            "start_model": start_model,
            "step": step,
            "ended_early": ended_early,
            "rows": rows,
            "rows_left_out": rows_left_out,
            "wins_by": wins_by,
            "wins": wins,
            "ties": ties,
            "losses": losses,
            "regressions": regressions,
            "eval_temperature": eval_temperature,
            "eval_samples": eval_samples,
            "reward": reward,
            "tool_calls": tool_calls,
            "components": components,
            "greedy": greedy,
            "loss": loss,
            "token_accuracy": token_accuracy,
            "preference_accuracy": preference_accuracy,
            "chosen_logprob": chosen_logprob,
            "rejected_logprob": rejected_logprob,
            "chosen_less_probable": chosen_less_probable,
            "implicit_rewards": implicit_rewards,
            "full_valid_loss": full_valid_loss,
            "full_valid_mean_token_accuracy": full_valid_mean_token_accuracy,
            "full_valid_preference_accuracy": full_valid_preference_accuracy,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.comparison import Comparison # noqa: PLC0415
        from ..models.implicit_rewards import ImplicitRewards # noqa: PLC0415
        from ..models.over_all import OverAll # noqa: PLC0415
        from ..models.regression import Regression # noqa: PLC0415
        from ..models.report_components_type_0 import ReportComponentsType0 # noqa: PLC0415
        from ..models.report_ended_early_type_0 import ReportEndedEarlyType0 # noqa: PLC0415
        from ..models.reward_comparison import RewardComparison # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['fine_tuning.job.report'] , d.pop("object"))
        if object_ != 'fine_tuning.job.report':
            raise ValueError(f"object must match const 'fine_tuning.job.report', got '{object_}'")

        job_id = d.pop("job_id")

        def _parse_method(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        method = _parse_method(d.pop("method"))


        base_model = d.pop("base_model")

        start_model = d.pop("start_model")

        step = d.pop("step")

        def _parse_ended_early(data: object) -> None | ReportEndedEarlyType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ended_early_type_0 = ReportEndedEarlyType0.from_dict(data)



                return ended_early_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReportEndedEarlyType0, data)

        ended_early = _parse_ended_early(d.pop("ended_early"))


        rows = d.pop("rows")

        def _parse_rows_left_out(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        rows_left_out = _parse_rows_left_out(d.pop("rows_left_out"))


        def _parse_wins_by(data: object) -> None | ReportWinsByType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                wins_by_type_0 = check_report_wins_by_type_0(data)



                return wins_by_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReportWinsByType0, data)

        wins_by = _parse_wins_by(d.pop("wins_by"))


        wins = d.pop("wins")

        ties = d.pop("ties")

        losses = d.pop("losses")

        regressions = []
        _regressions = d.pop("regressions")
        for regressions_item_data in (_regressions):
            regressions_item = Regression.from_dict(regressions_item_data)



            regressions.append(regressions_item)


        def _parse_eval_temperature(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        eval_temperature = _parse_eval_temperature(d.pop("eval_temperature"))


        def _parse_eval_samples(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        eval_samples = _parse_eval_samples(d.pop("eval_samples"))


        def _parse_reward(data: object) -> Comparison | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                reward_type_0 = Comparison.from_dict(data)



                return reward_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None, data)

        reward = _parse_reward(d.pop("reward"))


        def _parse_tool_calls(data: object) -> Comparison | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tool_calls_type_0 = Comparison.from_dict(data)



                return tool_calls_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None, data)

        tool_calls = _parse_tool_calls(d.pop("tool_calls"))


        def _parse_components(data: object) -> None | ReportComponentsType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                components_type_0 = ReportComponentsType0.from_dict(data)



                return components_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReportComponentsType0, data)

        components = _parse_components(d.pop("components"))


        def _parse_greedy(data: object) -> None | RewardComparison:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                greedy_type_0 = RewardComparison.from_dict(data)



                return greedy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RewardComparison, data)

        greedy = _parse_greedy(d.pop("greedy"))


        def _parse_loss(data: object) -> Comparison | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0 = Comparison.from_dict(data)



                return loss_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None, data)

        loss = _parse_loss(d.pop("loss"))


        def _parse_token_accuracy(data: object) -> Comparison | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                token_accuracy_type_0 = Comparison.from_dict(data)



                return token_accuracy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None, data)

        token_accuracy = _parse_token_accuracy(d.pop("token_accuracy"))


        def _parse_preference_accuracy(data: object) -> Comparison | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                preference_accuracy_type_0 = Comparison.from_dict(data)



                return preference_accuracy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None, data)

        preference_accuracy = _parse_preference_accuracy(d.pop("preference_accuracy"))


        def _parse_chosen_logprob(data: object) -> Comparison | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                chosen_logprob_type_0 = Comparison.from_dict(data)



                return chosen_logprob_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None, data)

        chosen_logprob = _parse_chosen_logprob(d.pop("chosen_logprob"))


        def _parse_rejected_logprob(data: object) -> Comparison | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                rejected_logprob_type_0 = Comparison.from_dict(data)



                return rejected_logprob_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None, data)

        rejected_logprob = _parse_rejected_logprob(d.pop("rejected_logprob"))


        def _parse_chosen_less_probable(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        chosen_less_probable = _parse_chosen_less_probable(d.pop("chosen_less_probable"))


        def _parse_implicit_rewards(data: object) -> ImplicitRewards | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                implicit_rewards_type_0 = ImplicitRewards.from_dict(data)



                return implicit_rewards_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ImplicitRewards | None, data)

        implicit_rewards = _parse_implicit_rewards(d.pop("implicit_rewards"))


        def _parse_full_valid_loss(data: object) -> None | OverAll:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                full_valid_loss_type_0 = OverAll.from_dict(data)



                return full_valid_loss_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OverAll, data)

        full_valid_loss = _parse_full_valid_loss(d.pop("full_valid_loss"))


        def _parse_full_valid_mean_token_accuracy(data: object) -> None | OverAll:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                full_valid_mean_token_accuracy_type_0 = OverAll.from_dict(data)



                return full_valid_mean_token_accuracy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OverAll, data)

        full_valid_mean_token_accuracy = _parse_full_valid_mean_token_accuracy(d.pop("full_valid_mean_token_accuracy"))


        def _parse_full_valid_preference_accuracy(data: object) -> None | OverAll:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                full_valid_preference_accuracy_type_0 = OverAll.from_dict(data)



                return full_valid_preference_accuracy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OverAll, data)

        full_valid_preference_accuracy = _parse_full_valid_preference_accuracy(d.pop("full_valid_preference_accuracy"))


        report = cls(
            object_=object_,
            job_id=job_id,
            method=method,
            base_model=base_model,
            start_model=start_model,
            step=step,
            ended_early=ended_early,
            rows=rows,
            rows_left_out=rows_left_out,
            wins_by=wins_by,
            wins=wins,
            ties=ties,
            losses=losses,
            regressions=regressions,
            eval_temperature=eval_temperature,
            eval_samples=eval_samples,
            reward=reward,
            tool_calls=tool_calls,
            components=components,
            greedy=greedy,
            loss=loss,
            token_accuracy=token_accuracy,
            preference_accuracy=preference_accuracy,
            chosen_logprob=chosen_logprob,
            rejected_logprob=rejected_logprob,
            chosen_less_probable=chosen_less_probable,
            implicit_rewards=implicit_rewards,
            full_valid_loss=full_valid_loss,
            full_valid_mean_token_accuracy=full_valid_mean_token_accuracy,
            full_valid_preference_accuracy=full_valid_preference_accuracy,
        )


        report.additional_properties = d
        return report

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
