from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.report_wins_by_type_0 import check_report_wins_by_type_0
from ..models.report_wins_by_type_0 import ReportWinsByType0
from ..types import UNSET, Unset
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
            object_ (Literal['fine_tuning.job.report']): Type of the object; each type has one constant value.
            job_id (str): The job.
            base_model (str): Name of the base model.
            start_model (str): Name of the model that training started from.
            step (int): The published step.
            rows (int): Rows that are compared.
            wins (int): Rows that became better.
            ties (int): Rows that stayed the same.
            losses (int): Rows that became worse.
            regressions (list[Regression]): The rows that became worse, worst first. For pairs: log-prob of the preferred
                answer less that of the rejected one.
            method (None | str | Unset): `reinforcement`, `supervised` or `dpo`.
            chosen_among (int | None | Unset): Validated checkpoints that the published one was chosen from. Values read
                from the validations that chose it (`greedy`, and all of a supervised or DPO job) have intervals of the
                difference that allow for the choice. `null` in reports of earlier versions.
            ended_early (None | ReportEndedEarlyType0 | Unset): The stop rule that ended the job, if one did.
            rows_left_out (int | None | Unset): Rows with a value that is not finite before or after training (supervised
                and DPO).
            rows_in_training (int | None | Unset): Rows of the validation file whose messages are in the training file too,
                so that they measure memorisation. `null` in reports of earlier versions.
            wins_by (None | ReportWinsByType0 | Unset): The measure by which a row is better: a higher reward, a smaller
                loss, or the order of a pair's answers by log-prob.
            judged_apart (list[str] | None | Unset): Graders that score the rollouts of a group against each other
                (`ai_judge`), as parameters. They judged the two models in groups of their own, so that their scores have no
                common scale: a reward that includes them does not show the gain (reinforcement). `null` in reports of earlier
                versions.
            eval_temperature (float | None | Unset): Temperature of the held-out rollouts (reinforcement).
            eval_samples (int | None | Unset): Rollouts of each held-out row (reinforcement).
            reward (Comparison | None | Unset): The grader's rewards (reinforcement).
            tool_calls (Comparison | None | Unset): Tool calls per rollout (reinforcement).
            components (None | ReportComponentsType0 | Unset): Numbers that the grader reports beside the reward, by name
                (reinforcement).
            greedy (None | RewardComparison | Unset): The same for one rollout of each row at temperature 0 (reinforcement).
            loss (Comparison | None | Unset): Loss of a row (supervised and DPO).
            token_accuracy (Comparison | None | Unset): Share of a row's learned tokens that are the most probable one
                (supervised).
            preference_accuracy (Comparison | None | Unset): Share of pairs whose preferred answer is more probable than the
                rejected one (DPO).
            chosen_logprob (Comparison | None | Unset): Log-prob of a whole preferred answer (DPO).
            rejected_logprob (Comparison | None | Unset): Log-prob of a whole rejected answer (DPO).
            chosen_less_probable (int | None | Unset): Pairs whose preferred answer became less probable (DPO).
            implicit_rewards (ImplicitRewards | None | Unset): Values of the tuned model against the start (DPO).
            full_valid_loss (None | OverAll | Unset): Loss over all held-out rows (supervised and DPO).
            full_valid_mean_token_accuracy (None | OverAll | Unset): Token accuracy over all held-out rows (supervised).
            full_valid_preference_accuracy (None | OverAll | Unset): Accuracy by log-prob over all held-out pairs (DPO).
     """

    object_: Literal['fine_tuning.job.report']
    job_id: str
    base_model: str
    start_model: str
    step: int
    rows: int
    wins: int
    ties: int
    losses: int
    regressions: list[Regression]
    method: None | str | Unset = UNSET
    chosen_among: int | None | Unset = UNSET
    ended_early: None | ReportEndedEarlyType0 | Unset = UNSET
    rows_left_out: int | None | Unset = UNSET
    rows_in_training: int | None | Unset = UNSET
    wins_by: None | ReportWinsByType0 | Unset = UNSET
    judged_apart: list[str] | None | Unset = UNSET
    eval_temperature: float | None | Unset = UNSET
    eval_samples: int | None | Unset = UNSET
    reward: Comparison | None | Unset = UNSET
    tool_calls: Comparison | None | Unset = UNSET
    components: None | ReportComponentsType0 | Unset = UNSET
    greedy: None | RewardComparison | Unset = UNSET
    loss: Comparison | None | Unset = UNSET
    token_accuracy: Comparison | None | Unset = UNSET
    preference_accuracy: Comparison | None | Unset = UNSET
    chosen_logprob: Comparison | None | Unset = UNSET
    rejected_logprob: Comparison | None | Unset = UNSET
    chosen_less_probable: int | None | Unset = UNSET
    implicit_rewards: ImplicitRewards | None | Unset = UNSET
    full_valid_loss: None | OverAll | Unset = UNSET
    full_valid_mean_token_accuracy: None | OverAll | Unset = UNSET
    full_valid_preference_accuracy: None | OverAll | Unset = UNSET
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

        base_model = self.base_model

        start_model = self.start_model

        step = self.step

        rows = self.rows

        wins = self.wins

        ties = self.ties

        losses = self.losses

        regressions = []
        for regressions_item_data in self.regressions:
            regressions_item = regressions_item_data.to_dict()
            regressions.append(regressions_item)



        method: None | str | Unset
        if isinstance(self.method, Unset):
            method = UNSET
        else:
            method = self.method

        chosen_among: int | None | Unset
        if isinstance(self.chosen_among, Unset):
            chosen_among = UNSET
        else:
            chosen_among = self.chosen_among

        ended_early: dict[str, Any] | None | Unset
        if isinstance(self.ended_early, Unset):
            ended_early = UNSET
        elif isinstance(self.ended_early, ReportEndedEarlyType0):
            ended_early = self.ended_early.to_dict()
        else:
            ended_early = self.ended_early

        rows_left_out: int | None | Unset
        if isinstance(self.rows_left_out, Unset):
            rows_left_out = UNSET
        else:
            rows_left_out = self.rows_left_out

        rows_in_training: int | None | Unset
        if isinstance(self.rows_in_training, Unset):
            rows_in_training = UNSET
        else:
            rows_in_training = self.rows_in_training

        wins_by: None | str | Unset
        if isinstance(self.wins_by, Unset):
            wins_by = UNSET
        elif isinstance(self.wins_by, str):
            wins_by = self.wins_by
        else:
            wins_by = self.wins_by

        judged_apart: list[str] | None | Unset
        if isinstance(self.judged_apart, Unset):
            judged_apart = UNSET
        elif isinstance(self.judged_apart, list):
            judged_apart = self.judged_apart


        else:
            judged_apart = self.judged_apart

        eval_temperature: float | None | Unset
        if isinstance(self.eval_temperature, Unset):
            eval_temperature = UNSET
        else:
            eval_temperature = self.eval_temperature

        eval_samples: int | None | Unset
        if isinstance(self.eval_samples, Unset):
            eval_samples = UNSET
        else:
            eval_samples = self.eval_samples

        reward: dict[str, Any] | None | Unset
        if isinstance(self.reward, Unset):
            reward = UNSET
        elif isinstance(self.reward, Comparison):
            reward = self.reward.to_dict()
        else:
            reward = self.reward

        tool_calls: dict[str, Any] | None | Unset
        if isinstance(self.tool_calls, Unset):
            tool_calls = UNSET
        elif isinstance(self.tool_calls, Comparison):
            tool_calls = self.tool_calls.to_dict()
        else:
            tool_calls = self.tool_calls

        components: dict[str, Any] | None | Unset
        if isinstance(self.components, Unset):
            components = UNSET
        elif isinstance(self.components, ReportComponentsType0):
            components = self.components.to_dict()
        else:
            components = self.components

        greedy: dict[str, Any] | None | Unset
        if isinstance(self.greedy, Unset):
            greedy = UNSET
        elif isinstance(self.greedy, RewardComparison):
            greedy = self.greedy.to_dict()
        else:
            greedy = self.greedy

        loss: dict[str, Any] | None | Unset
        if isinstance(self.loss, Unset):
            loss = UNSET
        elif isinstance(self.loss, Comparison):
            loss = self.loss.to_dict()
        else:
            loss = self.loss

        token_accuracy: dict[str, Any] | None | Unset
        if isinstance(self.token_accuracy, Unset):
            token_accuracy = UNSET
        elif isinstance(self.token_accuracy, Comparison):
            token_accuracy = self.token_accuracy.to_dict()
        else:
            token_accuracy = self.token_accuracy

        preference_accuracy: dict[str, Any] | None | Unset
        if isinstance(self.preference_accuracy, Unset):
            preference_accuracy = UNSET
        elif isinstance(self.preference_accuracy, Comparison):
            preference_accuracy = self.preference_accuracy.to_dict()
        else:
            preference_accuracy = self.preference_accuracy

        chosen_logprob: dict[str, Any] | None | Unset
        if isinstance(self.chosen_logprob, Unset):
            chosen_logprob = UNSET
        elif isinstance(self.chosen_logprob, Comparison):
            chosen_logprob = self.chosen_logprob.to_dict()
        else:
            chosen_logprob = self.chosen_logprob

        rejected_logprob: dict[str, Any] | None | Unset
        if isinstance(self.rejected_logprob, Unset):
            rejected_logprob = UNSET
        elif isinstance(self.rejected_logprob, Comparison):
            rejected_logprob = self.rejected_logprob.to_dict()
        else:
            rejected_logprob = self.rejected_logprob

        chosen_less_probable: int | None | Unset
        if isinstance(self.chosen_less_probable, Unset):
            chosen_less_probable = UNSET
        else:
            chosen_less_probable = self.chosen_less_probable

        implicit_rewards: dict[str, Any] | None | Unset
        if isinstance(self.implicit_rewards, Unset):
            implicit_rewards = UNSET
        elif isinstance(self.implicit_rewards, ImplicitRewards):
            implicit_rewards = self.implicit_rewards.to_dict()
        else:
            implicit_rewards = self.implicit_rewards

        full_valid_loss: dict[str, Any] | None | Unset
        if isinstance(self.full_valid_loss, Unset):
            full_valid_loss = UNSET
        elif isinstance(self.full_valid_loss, OverAll):
            full_valid_loss = self.full_valid_loss.to_dict()
        else:
            full_valid_loss = self.full_valid_loss

        full_valid_mean_token_accuracy: dict[str, Any] | None | Unset
        if isinstance(self.full_valid_mean_token_accuracy, Unset):
            full_valid_mean_token_accuracy = UNSET
        elif isinstance(self.full_valid_mean_token_accuracy, OverAll):
            full_valid_mean_token_accuracy = self.full_valid_mean_token_accuracy.to_dict()
        else:
            full_valid_mean_token_accuracy = self.full_valid_mean_token_accuracy

        full_valid_preference_accuracy: dict[str, Any] | None | Unset
        if isinstance(self.full_valid_preference_accuracy, Unset):
            full_valid_preference_accuracy = UNSET
        elif isinstance(self.full_valid_preference_accuracy, OverAll):
            full_valid_preference_accuracy = self.full_valid_preference_accuracy.to_dict()
        else:
            full_valid_preference_accuracy = self.full_valid_preference_accuracy


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "job_id": job_id,
            "base_model": base_model,
            "start_model": start_model,
            "step": step,
            "rows": rows,
            "wins": wins,
            "ties": ties,
            "losses": losses,
            "regressions": regressions,
        })
        if method is not UNSET:
            field_dict["method"] = method
        if chosen_among is not UNSET:
            field_dict["chosen_among"] = chosen_among
        if ended_early is not UNSET:
            field_dict["ended_early"] = ended_early
        if rows_left_out is not UNSET:
            field_dict["rows_left_out"] = rows_left_out
        if rows_in_training is not UNSET:
            field_dict["rows_in_training"] = rows_in_training
        if wins_by is not UNSET:
            field_dict["wins_by"] = wins_by
        if judged_apart is not UNSET:
            field_dict["judged_apart"] = judged_apart
        if eval_temperature is not UNSET:
            field_dict["eval_temperature"] = eval_temperature
        if eval_samples is not UNSET:
            field_dict["eval_samples"] = eval_samples
        if reward is not UNSET:
            field_dict["reward"] = reward
        if tool_calls is not UNSET:
            field_dict["tool_calls"] = tool_calls
        if components is not UNSET:
            field_dict["components"] = components
        if greedy is not UNSET:
            field_dict["greedy"] = greedy
        if loss is not UNSET:
            field_dict["loss"] = loss
        if token_accuracy is not UNSET:
            field_dict["token_accuracy"] = token_accuracy
        if preference_accuracy is not UNSET:
            field_dict["preference_accuracy"] = preference_accuracy
        if chosen_logprob is not UNSET:
            field_dict["chosen_logprob"] = chosen_logprob
        if rejected_logprob is not UNSET:
            field_dict["rejected_logprob"] = rejected_logprob
        if chosen_less_probable is not UNSET:
            field_dict["chosen_less_probable"] = chosen_less_probable
        if implicit_rewards is not UNSET:
            field_dict["implicit_rewards"] = implicit_rewards
        if full_valid_loss is not UNSET:
            field_dict["full_valid_loss"] = full_valid_loss
        if full_valid_mean_token_accuracy is not UNSET:
            field_dict["full_valid_mean_token_accuracy"] = full_valid_mean_token_accuracy
        if full_valid_preference_accuracy is not UNSET:
            field_dict["full_valid_preference_accuracy"] = full_valid_preference_accuracy

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

        base_model = d.pop("base_model")

        start_model = d.pop("start_model")

        step = d.pop("step")

        rows = d.pop("rows")

        wins = d.pop("wins")

        ties = d.pop("ties")

        losses = d.pop("losses")

        regressions = []
        _regressions = d.pop("regressions")
        for regressions_item_data in (_regressions):
            regressions_item = Regression.from_dict(regressions_item_data)



            regressions.append(regressions_item)


        def _parse_method(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        method = _parse_method(d.pop("method", UNSET))


        def _parse_chosen_among(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        chosen_among = _parse_chosen_among(d.pop("chosen_among", UNSET))


        def _parse_ended_early(data: object) -> None | ReportEndedEarlyType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ended_early_type_0 = ReportEndedEarlyType0.from_dict(data)



                return ended_early_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReportEndedEarlyType0 | Unset, data)

        ended_early = _parse_ended_early(d.pop("ended_early", UNSET))


        def _parse_rows_left_out(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        rows_left_out = _parse_rows_left_out(d.pop("rows_left_out", UNSET))


        def _parse_rows_in_training(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        rows_in_training = _parse_rows_in_training(d.pop("rows_in_training", UNSET))


        def _parse_wins_by(data: object) -> None | ReportWinsByType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                wins_by_type_0 = check_report_wins_by_type_0(data)



                return wins_by_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReportWinsByType0 | Unset, data)

        wins_by = _parse_wins_by(d.pop("wins_by", UNSET))


        def _parse_judged_apart(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                judged_apart_type_0 = cast(list[str], data)

                return judged_apart_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        judged_apart = _parse_judged_apart(d.pop("judged_apart", UNSET))


        def _parse_eval_temperature(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        eval_temperature = _parse_eval_temperature(d.pop("eval_temperature", UNSET))


        def _parse_eval_samples(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        eval_samples = _parse_eval_samples(d.pop("eval_samples", UNSET))


        def _parse_reward(data: object) -> Comparison | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                reward_type_0 = Comparison.from_dict(data)



                return reward_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None | Unset, data)

        reward = _parse_reward(d.pop("reward", UNSET))


        def _parse_tool_calls(data: object) -> Comparison | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tool_calls_type_0 = Comparison.from_dict(data)



                return tool_calls_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None | Unset, data)

        tool_calls = _parse_tool_calls(d.pop("tool_calls", UNSET))


        def _parse_components(data: object) -> None | ReportComponentsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                components_type_0 = ReportComponentsType0.from_dict(data)



                return components_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReportComponentsType0 | Unset, data)

        components = _parse_components(d.pop("components", UNSET))


        def _parse_greedy(data: object) -> None | RewardComparison | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                greedy_type_0 = RewardComparison.from_dict(data)



                return greedy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RewardComparison | Unset, data)

        greedy = _parse_greedy(d.pop("greedy", UNSET))


        def _parse_loss(data: object) -> Comparison | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0 = Comparison.from_dict(data)



                return loss_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None | Unset, data)

        loss = _parse_loss(d.pop("loss", UNSET))


        def _parse_token_accuracy(data: object) -> Comparison | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                token_accuracy_type_0 = Comparison.from_dict(data)



                return token_accuracy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None | Unset, data)

        token_accuracy = _parse_token_accuracy(d.pop("token_accuracy", UNSET))


        def _parse_preference_accuracy(data: object) -> Comparison | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                preference_accuracy_type_0 = Comparison.from_dict(data)



                return preference_accuracy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None | Unset, data)

        preference_accuracy = _parse_preference_accuracy(d.pop("preference_accuracy", UNSET))


        def _parse_chosen_logprob(data: object) -> Comparison | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                chosen_logprob_type_0 = Comparison.from_dict(data)



                return chosen_logprob_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None | Unset, data)

        chosen_logprob = _parse_chosen_logprob(d.pop("chosen_logprob", UNSET))


        def _parse_rejected_logprob(data: object) -> Comparison | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                rejected_logprob_type_0 = Comparison.from_dict(data)



                return rejected_logprob_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Comparison | None | Unset, data)

        rejected_logprob = _parse_rejected_logprob(d.pop("rejected_logprob", UNSET))


        def _parse_chosen_less_probable(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        chosen_less_probable = _parse_chosen_less_probable(d.pop("chosen_less_probable", UNSET))


        def _parse_implicit_rewards(data: object) -> ImplicitRewards | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                implicit_rewards_type_0 = ImplicitRewards.from_dict(data)



                return implicit_rewards_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ImplicitRewards | None | Unset, data)

        implicit_rewards = _parse_implicit_rewards(d.pop("implicit_rewards", UNSET))


        def _parse_full_valid_loss(data: object) -> None | OverAll | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                full_valid_loss_type_0 = OverAll.from_dict(data)



                return full_valid_loss_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OverAll | Unset, data)

        full_valid_loss = _parse_full_valid_loss(d.pop("full_valid_loss", UNSET))


        def _parse_full_valid_mean_token_accuracy(data: object) -> None | OverAll | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                full_valid_mean_token_accuracy_type_0 = OverAll.from_dict(data)



                return full_valid_mean_token_accuracy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OverAll | Unset, data)

        full_valid_mean_token_accuracy = _parse_full_valid_mean_token_accuracy(d.pop("full_valid_mean_token_accuracy", UNSET))


        def _parse_full_valid_preference_accuracy(data: object) -> None | OverAll | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                full_valid_preference_accuracy_type_0 = OverAll.from_dict(data)



                return full_valid_preference_accuracy_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OverAll | Unset, data)

        full_valid_preference_accuracy = _parse_full_valid_preference_accuracy(d.pop("full_valid_preference_accuracy", UNSET))


        report = cls(
            object_=object_,
            job_id=job_id,
            base_model=base_model,
            start_model=start_model,
            step=step,
            rows=rows,
            wins=wins,
            ties=ties,
            losses=losses,
            regressions=regressions,
            method=method,
            chosen_among=chosen_among,
            ended_early=ended_early,
            rows_left_out=rows_left_out,
            rows_in_training=rows_in_training,
            wins_by=wins_by,
            judged_apart=judged_apart,
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
