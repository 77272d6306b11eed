from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.list_fine_tuning_job_metrics_split_type_0 import check_list_fine_tuning_job_metrics_split_type_0
from ...models.list_fine_tuning_job_metrics_split_type_0 import ListFineTuningJobMetricsSplitType0
from ...models.page_curve import PageCurve
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    job_id: str,
    *,
    names: list[str] | None | Unset = UNSET,
    split: ListFineTuningJobMetricsSplitType0 | None | Unset = UNSET,
    after_step: int | None | Unset = UNSET,
    max_points: int | Unset = 500,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    json_names: list[str] | None | Unset
    if isinstance(names, Unset):
        json_names = UNSET
    elif isinstance(names, list):
        json_names = names


    else:
        json_names = names
    params["names"] = json_names

    json_split: None | str | Unset
    if isinstance(split, Unset):
        json_split = UNSET
    elif isinstance(split, str):
        json_split = split
    else:
        json_split = split
    params["split"] = json_split

    json_after_step: int | None | Unset
    if isinstance(after_step, Unset):
        json_after_step = UNSET
    else:
        json_after_step = after_step
    params["after_step"] = json_after_step

    params["max_points"] = max_points


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/fine_tuning/jobs/{job_id}/metrics".format(job_id=quote(str(job_id), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | PageCurve | None:
    if response.status_code == 200:
        response_200 = PageCurve.from_dict(response.json())



        return response_200

    if response.status_code == 400:
        response_400 = ErrorEnvelope.from_dict(response.json())



        return response_400

    if response.status_code == 401:
        response_401 = ErrorEnvelope.from_dict(response.json())



        return response_401

    if response.status_code == 403:
        response_403 = ErrorEnvelope.from_dict(response.json())



        return response_403

    if response.status_code == 404:
        response_404 = ErrorEnvelope.from_dict(response.json())



        return response_404

    if response.status_code == 413:
        response_413 = ErrorEnvelope.from_dict(response.json())



        return response_413

    if response.status_code == 429:
        response_429 = ErrorEnvelope.from_dict(response.json())



        return response_429

    if response.status_code == 503:
        response_503 = ErrorEnvelope.from_dict(response.json())



        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | PageCurve]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    job_id: str,
    *,
    client: AuthenticatedClient,
    names: list[str] | None | Unset = UNSET,
    split: ListFineTuningJobMetricsSplitType0 | None | Unset = UNSET,
    after_step: int | None | Unset = UNSET,
    max_points: int | Unset = 500,

) -> Response[ErrorEnvelope | PageCurve]:
    """ List Metrics

     The points of a job's curves, thinned to `max_points`. A part of a name in angle brackets stands for
    a tool, a child of the grader, a component or a failure class.

    - `reward/mean`: Mean reward that the grader gave, without the penalties of `objective`.
    - `reward/std`: Standard deviation of these rewards.
    - `reward/min`: Lowest of these rewards.
    - `reward/max`: Highest of these rewards.
    - `reward/p10`: Their 10th percentile: a tenth of the rollouts earned less.
    - `reward/p90`: Their 90th percentile: a tenth of the rollouts earned more.
    - `objective/mean`: Mean reward less all terms of `objective`; advantages are computed from it.
    - `objective/clamped_mean`: Mean that `clamp_limit_stop` took from the reward.
    - `objective/token_penalty_mean`: Mean that the penalty on tokens took.
    - `objective/call_budget_penalty_mean`: Mean that calls over the budget took.
    - `objective/repeated_call_penalty_mean`: Mean that repeated calls took.
    - `objective/overlong_penalty_mean`: Mean that `overlong` took.
    - `reward/component/<name>`: Mean of a number that the grader reports beside the reward, or of a
    child of a `multi` grader, over the rollouts that have it.
    - `tokens/completion_mean`: Mean tokens that the policy wrote in a rollout.
    - `tokens/reasoning_mean`: Mean tokens of reasoning among them.
    - `tokens/prompt_mean`: Mean tokens of the prompt.
    - `turns/mean`: Mean turns of the policy in a rollout.
    - `tool_calls/mean`: Mean tool calls in a rollout.
    - `tool_calls/repeated_mean`: Mean calls with the name and arguments of an earlier one of the same
    rollout.
    - `tool_calls/retries_mean`: Mean attempts of a rollout's calls beyond the first.
    - `tool_calls/parse_errors_mean`: Mean turns of a rollout that could not be parsed as a tool call or
    an answer.
    - `environment/steps_mean`: Mean steps of the HTTP environment in a rollout.
    - `environment/latency_s_mean`: Mean seconds that a step took.
    - `environment/retries_mean`: Mean attempts of a rollout's steps beyond the first.
    - `environment/reward_mean`: Mean sum of the rewards of a rollout's steps, whichever grader gives
    the reward.
    - `environment/done_share`: Share of rollouts that the environment ended, not a limit.
    - `environment/errors`: Number of rollouts that were lost to failures of the environment.
    - `rollouts/limit_stop_share`: Share of rollouts that ended at a limit (tokens, turns, time) instead
    of with an answer.
    - `rollouts/valid`: Number of rollouts that were graded; all means are over these.
    - `discarded/count`: Number of rollouts that were lost to failures of tools, environments or
    graders.
    - `discarded/share`: Share of rollouts that were lost so.
    - `discarded/<failure class>`: Number of rollouts that were lost to failures of one class.
    - `tool/<tool>/calls_mean`: Mean calls of one tool in a rollout. `(unknown)` counts names that no
    tool has, `(unparsable)` calls that could not be parsed.
    - `tool/<tool>/tokens_per_call`: Mean tokens of its replies.
    - `tool/<tool>/latency_s_mean`: Mean seconds that its calls took.
    - `tool/<tool>/retries`: Number of attempts of its calls beyond the first.
    - `tool/<tool>/errors`: Number of its calls that were answered with an error that the policy reads.
    - `tool/<tool>/errors/<kind>`: Number of these of one kind.
    - `grader/error_share`: Share of rollouts whose grade carries an error flag, or whose grader failed,
    among those that reached the grader.
    - `grader/latency_s_mean`: Mean seconds that a grade took.
    - `grader/measured`: Number of rollouts that the grader scored.
    - `grader/prompt_tokens`: Tokens of the judge's prompts, summed.
    - `grader/prompt_tokens_mean`: Mean tokens of a judge's prompts for one grade; a judge of whole
    groups counts each rollout's share.
    - `grader/completion_tokens`: Tokens that the judge wrote, summed.
    - `grader/completion_tokens_mean`: Mean tokens that the judge wrote.
    - `grader/cached_tokens`: Prompt tokens that the judge had in its cache, summed.
    - `grader/cached_tokens_mean`: Mean prompt tokens that the judge had in its cache.
    - `grader/judge_calls`: Answers of the judge, summed: the tokens divided by them are the cost of one
    question, of one about a whole group with a judge of groups.
    - `grader/judge_calls_mean`: Mean answers of the judge for one grade.
    - `grader/errors/<flag>`: Number of grades that carry one error flag.
    - `grader/<child>/latency_s_mean`: Mean seconds that a grade took.
    - `grader/<child>/measured`: Number of rollouts that the grader scored.
    - `grader/<child>/prompt_tokens`: Tokens of the judge's prompts, summed.
    - `grader/<child>/prompt_tokens_mean`: Mean tokens of a judge's prompts for one grade; a judge of
    whole groups counts each rollout's share.
    - `grader/<child>/completion_tokens`: Tokens that the judge wrote, summed.
    - `grader/<child>/completion_tokens_mean`: Mean tokens that the judge wrote.
    - `grader/<child>/cached_tokens`: Prompt tokens that the judge had in its cache, summed.
    - `grader/<child>/cached_tokens_mean`: Mean prompt tokens that the judge had in its cache.
    - `grader/<child>/judge_calls`: Answers of the judge, summed: the tokens divided by them are the
    cost of one question, of one about a whole group with a judge of groups.
    - `grader/<child>/judge_calls_mean`: Mean answers of the judge for one grade.
    - `grader/<child>/errors/<flag>`: Number of grades that carry one error flag.
    - `grader/<child>/discarded`: Number of rollouts that were lost because this child failed.
    - `train/loss`: Loss of the step, before its update; of the held-out rows in validations.
    - `train/grad_norm`: Norm of the gradient before it was clipped.
    - `train/learning_rate`: Learning rate of the step.
    - `train/tokens`: Tokens that the loss is divided by; their sum is `trained_tokens`.
    - `train/computed_tokens`: Trained tokens that could move a weight: their advantage is not 0.
    - `train/entropy`: Mean entropy of the policy, in nats per trained token.
    - `train/token_accuracy`: Share of trained tokens that are the most probable one.
    - `batch/loss`: Loss of a few held-out rows, between validations of all of them.
    - `batch/token_accuracy`: Token accuracy of the same rows.
    - `train/skipped_steps`: Optimizer steps that were left out because loss or gradient was not finite.
    - `train/sampler_kl_k3`: Distance of the trained policy from the one that sampled (KL, estimator
    k3).
    - `train/sampler_max_abs_log_ratio`: Largest difference of log-probs between sampler and trainer.
    - `train/clipped_share`: Share of trained tokens whose ratio the loss clipped.
    - `train/masked_share`: Share of trained tokens that `mismatch.sequence_mask` or
    `mismatch.max_log_ratio` left out.
    - `train/truncated_share`: Share of trained tokens that `mismatch.truncation` weighed less.
    - `train/base_kl`: Distance of the policy from the model that training started from (KL, estimator
    k1).
    - `groups/trained`: Number of groups that the step trained on.
    - `groups/zero_variance`: Number of groups whose rollouts are all worth the same, which train
    nothing.
    - `groups/masked`: Number of groups with too few graded rollouts.
    - `preference/logprob_accuracy`: Share of pairs whose preferred answer is more probable than the
    rejected one.
    - `preference/chosen_logprob`: Mean log-prob of a whole preferred answer.
    - `preference/rejected_logprob`: Mean log-prob of a whole rejected answer.
    - `preference/accuracy`: Share of pairs whose preferred answer has the higher implicit reward. The
    model that training started from has 0 by definition.
    - `preference/margin`: Mean implicit reward of the preferred answer less that of the rejected one.
    - `preference/chosen_reward`: Mean implicit reward of the preferred answers: beta times their log-
    prob less that under the model that training started from. Below 0 they have become less probable.
    - `preference/rejected_reward`: The same of the rejected answers.
    - `staleness/mean`: Mean number of versions published between a rollout's dispatch and its training.
    - `staleness/max`: Largest number of such versions.
    - `staleness/discarded_share`: Share of rollouts that were given up because they became too old.
    - `staleness/group_s_mean`: Mean seconds from the dispatch of a trained group to its end.
    - `staleness/given_up_group_s_mean`: Mean seconds that the groups given up had lasted. Far above the
    line before, training prefers rollouts that are fast.
    - `queue/depth`: Finished rollouts that wait for a later step.
    - `queue/in_flight`: Rollouts that are dispatched and not finished.
    - `idle/trainer_share`: Share of the step's time in which the trainer waited.
    - `idle/sampler_share`: Share of the step's time without a request at the engine.
    - `publish/probe_max_abs_logprob_diff`: Largest difference of log-probs between engine and trainer
    on fixed tokens, after the adapter was published.
    - `time/sampling_s`: Seconds of sampling.
    - `time/training_s`: Seconds of training.
    - `time/publish_s`: Seconds until the engine served the new adapter.
    - `time/eval_s`: Seconds of the validation.
    - `time/step_s`: Seconds of the whole step, with publishing and validation.

    Args:
        job_id (str):
        names (list[str] | None | Unset): Curves to return, repeated or separated by commas;
            unknown ones are refused
        split (ListFineTuningJobMetricsSplitType0 | None | Unset):
        after_step (int | None | Unset):
        max_points (int | Unset):  Default: 500.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageCurve]
     """


    kwargs = _get_kwargs(
        job_id=job_id,
names=names,
split=split,
after_step=after_step,
max_points=max_points,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    job_id: str,
    *,
    client: AuthenticatedClient,
    names: list[str] | None | Unset = UNSET,
    split: ListFineTuningJobMetricsSplitType0 | None | Unset = UNSET,
    after_step: int | None | Unset = UNSET,
    max_points: int | Unset = 500,

) -> ErrorEnvelope | PageCurve | None:
    """ List Metrics

     The points of a job's curves, thinned to `max_points`. A part of a name in angle brackets stands for
    a tool, a child of the grader, a component or a failure class.

    - `reward/mean`: Mean reward that the grader gave, without the penalties of `objective`.
    - `reward/std`: Standard deviation of these rewards.
    - `reward/min`: Lowest of these rewards.
    - `reward/max`: Highest of these rewards.
    - `reward/p10`: Their 10th percentile: a tenth of the rollouts earned less.
    - `reward/p90`: Their 90th percentile: a tenth of the rollouts earned more.
    - `objective/mean`: Mean reward less all terms of `objective`; advantages are computed from it.
    - `objective/clamped_mean`: Mean that `clamp_limit_stop` took from the reward.
    - `objective/token_penalty_mean`: Mean that the penalty on tokens took.
    - `objective/call_budget_penalty_mean`: Mean that calls over the budget took.
    - `objective/repeated_call_penalty_mean`: Mean that repeated calls took.
    - `objective/overlong_penalty_mean`: Mean that `overlong` took.
    - `reward/component/<name>`: Mean of a number that the grader reports beside the reward, or of a
    child of a `multi` grader, over the rollouts that have it.
    - `tokens/completion_mean`: Mean tokens that the policy wrote in a rollout.
    - `tokens/reasoning_mean`: Mean tokens of reasoning among them.
    - `tokens/prompt_mean`: Mean tokens of the prompt.
    - `turns/mean`: Mean turns of the policy in a rollout.
    - `tool_calls/mean`: Mean tool calls in a rollout.
    - `tool_calls/repeated_mean`: Mean calls with the name and arguments of an earlier one of the same
    rollout.
    - `tool_calls/retries_mean`: Mean attempts of a rollout's calls beyond the first.
    - `tool_calls/parse_errors_mean`: Mean turns of a rollout that could not be parsed as a tool call or
    an answer.
    - `environment/steps_mean`: Mean steps of the HTTP environment in a rollout.
    - `environment/latency_s_mean`: Mean seconds that a step took.
    - `environment/retries_mean`: Mean attempts of a rollout's steps beyond the first.
    - `environment/reward_mean`: Mean sum of the rewards of a rollout's steps, whichever grader gives
    the reward.
    - `environment/done_share`: Share of rollouts that the environment ended, not a limit.
    - `environment/errors`: Number of rollouts that were lost to failures of the environment.
    - `rollouts/limit_stop_share`: Share of rollouts that ended at a limit (tokens, turns, time) instead
    of with an answer.
    - `rollouts/valid`: Number of rollouts that were graded; all means are over these.
    - `discarded/count`: Number of rollouts that were lost to failures of tools, environments or
    graders.
    - `discarded/share`: Share of rollouts that were lost so.
    - `discarded/<failure class>`: Number of rollouts that were lost to failures of one class.
    - `tool/<tool>/calls_mean`: Mean calls of one tool in a rollout. `(unknown)` counts names that no
    tool has, `(unparsable)` calls that could not be parsed.
    - `tool/<tool>/tokens_per_call`: Mean tokens of its replies.
    - `tool/<tool>/latency_s_mean`: Mean seconds that its calls took.
    - `tool/<tool>/retries`: Number of attempts of its calls beyond the first.
    - `tool/<tool>/errors`: Number of its calls that were answered with an error that the policy reads.
    - `tool/<tool>/errors/<kind>`: Number of these of one kind.
    - `grader/error_share`: Share of rollouts whose grade carries an error flag, or whose grader failed,
    among those that reached the grader.
    - `grader/latency_s_mean`: Mean seconds that a grade took.
    - `grader/measured`: Number of rollouts that the grader scored.
    - `grader/prompt_tokens`: Tokens of the judge's prompts, summed.
    - `grader/prompt_tokens_mean`: Mean tokens of a judge's prompts for one grade; a judge of whole
    groups counts each rollout's share.
    - `grader/completion_tokens`: Tokens that the judge wrote, summed.
    - `grader/completion_tokens_mean`: Mean tokens that the judge wrote.
    - `grader/cached_tokens`: Prompt tokens that the judge had in its cache, summed.
    - `grader/cached_tokens_mean`: Mean prompt tokens that the judge had in its cache.
    - `grader/judge_calls`: Answers of the judge, summed: the tokens divided by them are the cost of one
    question, of one about a whole group with a judge of groups.
    - `grader/judge_calls_mean`: Mean answers of the judge for one grade.
    - `grader/errors/<flag>`: Number of grades that carry one error flag.
    - `grader/<child>/latency_s_mean`: Mean seconds that a grade took.
    - `grader/<child>/measured`: Number of rollouts that the grader scored.
    - `grader/<child>/prompt_tokens`: Tokens of the judge's prompts, summed.
    - `grader/<child>/prompt_tokens_mean`: Mean tokens of a judge's prompts for one grade; a judge of
    whole groups counts each rollout's share.
    - `grader/<child>/completion_tokens`: Tokens that the judge wrote, summed.
    - `grader/<child>/completion_tokens_mean`: Mean tokens that the judge wrote.
    - `grader/<child>/cached_tokens`: Prompt tokens that the judge had in its cache, summed.
    - `grader/<child>/cached_tokens_mean`: Mean prompt tokens that the judge had in its cache.
    - `grader/<child>/judge_calls`: Answers of the judge, summed: the tokens divided by them are the
    cost of one question, of one about a whole group with a judge of groups.
    - `grader/<child>/judge_calls_mean`: Mean answers of the judge for one grade.
    - `grader/<child>/errors/<flag>`: Number of grades that carry one error flag.
    - `grader/<child>/discarded`: Number of rollouts that were lost because this child failed.
    - `train/loss`: Loss of the step, before its update; of the held-out rows in validations.
    - `train/grad_norm`: Norm of the gradient before it was clipped.
    - `train/learning_rate`: Learning rate of the step.
    - `train/tokens`: Tokens that the loss is divided by; their sum is `trained_tokens`.
    - `train/computed_tokens`: Trained tokens that could move a weight: their advantage is not 0.
    - `train/entropy`: Mean entropy of the policy, in nats per trained token.
    - `train/token_accuracy`: Share of trained tokens that are the most probable one.
    - `batch/loss`: Loss of a few held-out rows, between validations of all of them.
    - `batch/token_accuracy`: Token accuracy of the same rows.
    - `train/skipped_steps`: Optimizer steps that were left out because loss or gradient was not finite.
    - `train/sampler_kl_k3`: Distance of the trained policy from the one that sampled (KL, estimator
    k3).
    - `train/sampler_max_abs_log_ratio`: Largest difference of log-probs between sampler and trainer.
    - `train/clipped_share`: Share of trained tokens whose ratio the loss clipped.
    - `train/masked_share`: Share of trained tokens that `mismatch.sequence_mask` or
    `mismatch.max_log_ratio` left out.
    - `train/truncated_share`: Share of trained tokens that `mismatch.truncation` weighed less.
    - `train/base_kl`: Distance of the policy from the model that training started from (KL, estimator
    k1).
    - `groups/trained`: Number of groups that the step trained on.
    - `groups/zero_variance`: Number of groups whose rollouts are all worth the same, which train
    nothing.
    - `groups/masked`: Number of groups with too few graded rollouts.
    - `preference/logprob_accuracy`: Share of pairs whose preferred answer is more probable than the
    rejected one.
    - `preference/chosen_logprob`: Mean log-prob of a whole preferred answer.
    - `preference/rejected_logprob`: Mean log-prob of a whole rejected answer.
    - `preference/accuracy`: Share of pairs whose preferred answer has the higher implicit reward. The
    model that training started from has 0 by definition.
    - `preference/margin`: Mean implicit reward of the preferred answer less that of the rejected one.
    - `preference/chosen_reward`: Mean implicit reward of the preferred answers: beta times their log-
    prob less that under the model that training started from. Below 0 they have become less probable.
    - `preference/rejected_reward`: The same of the rejected answers.
    - `staleness/mean`: Mean number of versions published between a rollout's dispatch and its training.
    - `staleness/max`: Largest number of such versions.
    - `staleness/discarded_share`: Share of rollouts that were given up because they became too old.
    - `staleness/group_s_mean`: Mean seconds from the dispatch of a trained group to its end.
    - `staleness/given_up_group_s_mean`: Mean seconds that the groups given up had lasted. Far above the
    line before, training prefers rollouts that are fast.
    - `queue/depth`: Finished rollouts that wait for a later step.
    - `queue/in_flight`: Rollouts that are dispatched and not finished.
    - `idle/trainer_share`: Share of the step's time in which the trainer waited.
    - `idle/sampler_share`: Share of the step's time without a request at the engine.
    - `publish/probe_max_abs_logprob_diff`: Largest difference of log-probs between engine and trainer
    on fixed tokens, after the adapter was published.
    - `time/sampling_s`: Seconds of sampling.
    - `time/training_s`: Seconds of training.
    - `time/publish_s`: Seconds until the engine served the new adapter.
    - `time/eval_s`: Seconds of the validation.
    - `time/step_s`: Seconds of the whole step, with publishing and validation.

    Args:
        job_id (str):
        names (list[str] | None | Unset): Curves to return, repeated or separated by commas;
            unknown ones are refused
        split (ListFineTuningJobMetricsSplitType0 | None | Unset):
        after_step (int | None | Unset):
        max_points (int | Unset):  Default: 500.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageCurve
     """


    return sync_detailed(
        job_id=job_id,
client=client,
names=names,
split=split,
after_step=after_step,
max_points=max_points,

    ).parsed

async def asyncio_detailed(
    job_id: str,
    *,
    client: AuthenticatedClient,
    names: list[str] | None | Unset = UNSET,
    split: ListFineTuningJobMetricsSplitType0 | None | Unset = UNSET,
    after_step: int | None | Unset = UNSET,
    max_points: int | Unset = 500,

) -> Response[ErrorEnvelope | PageCurve]:
    """ List Metrics

     The points of a job's curves, thinned to `max_points`. A part of a name in angle brackets stands for
    a tool, a child of the grader, a component or a failure class.

    - `reward/mean`: Mean reward that the grader gave, without the penalties of `objective`.
    - `reward/std`: Standard deviation of these rewards.
    - `reward/min`: Lowest of these rewards.
    - `reward/max`: Highest of these rewards.
    - `reward/p10`: Their 10th percentile: a tenth of the rollouts earned less.
    - `reward/p90`: Their 90th percentile: a tenth of the rollouts earned more.
    - `objective/mean`: Mean reward less all terms of `objective`; advantages are computed from it.
    - `objective/clamped_mean`: Mean that `clamp_limit_stop` took from the reward.
    - `objective/token_penalty_mean`: Mean that the penalty on tokens took.
    - `objective/call_budget_penalty_mean`: Mean that calls over the budget took.
    - `objective/repeated_call_penalty_mean`: Mean that repeated calls took.
    - `objective/overlong_penalty_mean`: Mean that `overlong` took.
    - `reward/component/<name>`: Mean of a number that the grader reports beside the reward, or of a
    child of a `multi` grader, over the rollouts that have it.
    - `tokens/completion_mean`: Mean tokens that the policy wrote in a rollout.
    - `tokens/reasoning_mean`: Mean tokens of reasoning among them.
    - `tokens/prompt_mean`: Mean tokens of the prompt.
    - `turns/mean`: Mean turns of the policy in a rollout.
    - `tool_calls/mean`: Mean tool calls in a rollout.
    - `tool_calls/repeated_mean`: Mean calls with the name and arguments of an earlier one of the same
    rollout.
    - `tool_calls/retries_mean`: Mean attempts of a rollout's calls beyond the first.
    - `tool_calls/parse_errors_mean`: Mean turns of a rollout that could not be parsed as a tool call or
    an answer.
    - `environment/steps_mean`: Mean steps of the HTTP environment in a rollout.
    - `environment/latency_s_mean`: Mean seconds that a step took.
    - `environment/retries_mean`: Mean attempts of a rollout's steps beyond the first.
    - `environment/reward_mean`: Mean sum of the rewards of a rollout's steps, whichever grader gives
    the reward.
    - `environment/done_share`: Share of rollouts that the environment ended, not a limit.
    - `environment/errors`: Number of rollouts that were lost to failures of the environment.
    - `rollouts/limit_stop_share`: Share of rollouts that ended at a limit (tokens, turns, time) instead
    of with an answer.
    - `rollouts/valid`: Number of rollouts that were graded; all means are over these.
    - `discarded/count`: Number of rollouts that were lost to failures of tools, environments or
    graders.
    - `discarded/share`: Share of rollouts that were lost so.
    - `discarded/<failure class>`: Number of rollouts that were lost to failures of one class.
    - `tool/<tool>/calls_mean`: Mean calls of one tool in a rollout. `(unknown)` counts names that no
    tool has, `(unparsable)` calls that could not be parsed.
    - `tool/<tool>/tokens_per_call`: Mean tokens of its replies.
    - `tool/<tool>/latency_s_mean`: Mean seconds that its calls took.
    - `tool/<tool>/retries`: Number of attempts of its calls beyond the first.
    - `tool/<tool>/errors`: Number of its calls that were answered with an error that the policy reads.
    - `tool/<tool>/errors/<kind>`: Number of these of one kind.
    - `grader/error_share`: Share of rollouts whose grade carries an error flag, or whose grader failed,
    among those that reached the grader.
    - `grader/latency_s_mean`: Mean seconds that a grade took.
    - `grader/measured`: Number of rollouts that the grader scored.
    - `grader/prompt_tokens`: Tokens of the judge's prompts, summed.
    - `grader/prompt_tokens_mean`: Mean tokens of a judge's prompts for one grade; a judge of whole
    groups counts each rollout's share.
    - `grader/completion_tokens`: Tokens that the judge wrote, summed.
    - `grader/completion_tokens_mean`: Mean tokens that the judge wrote.
    - `grader/cached_tokens`: Prompt tokens that the judge had in its cache, summed.
    - `grader/cached_tokens_mean`: Mean prompt tokens that the judge had in its cache.
    - `grader/judge_calls`: Answers of the judge, summed: the tokens divided by them are the cost of one
    question, of one about a whole group with a judge of groups.
    - `grader/judge_calls_mean`: Mean answers of the judge for one grade.
    - `grader/errors/<flag>`: Number of grades that carry one error flag.
    - `grader/<child>/latency_s_mean`: Mean seconds that a grade took.
    - `grader/<child>/measured`: Number of rollouts that the grader scored.
    - `grader/<child>/prompt_tokens`: Tokens of the judge's prompts, summed.
    - `grader/<child>/prompt_tokens_mean`: Mean tokens of a judge's prompts for one grade; a judge of
    whole groups counts each rollout's share.
    - `grader/<child>/completion_tokens`: Tokens that the judge wrote, summed.
    - `grader/<child>/completion_tokens_mean`: Mean tokens that the judge wrote.
    - `grader/<child>/cached_tokens`: Prompt tokens that the judge had in its cache, summed.
    - `grader/<child>/cached_tokens_mean`: Mean prompt tokens that the judge had in its cache.
    - `grader/<child>/judge_calls`: Answers of the judge, summed: the tokens divided by them are the
    cost of one question, of one about a whole group with a judge of groups.
    - `grader/<child>/judge_calls_mean`: Mean answers of the judge for one grade.
    - `grader/<child>/errors/<flag>`: Number of grades that carry one error flag.
    - `grader/<child>/discarded`: Number of rollouts that were lost because this child failed.
    - `train/loss`: Loss of the step, before its update; of the held-out rows in validations.
    - `train/grad_norm`: Norm of the gradient before it was clipped.
    - `train/learning_rate`: Learning rate of the step.
    - `train/tokens`: Tokens that the loss is divided by; their sum is `trained_tokens`.
    - `train/computed_tokens`: Trained tokens that could move a weight: their advantage is not 0.
    - `train/entropy`: Mean entropy of the policy, in nats per trained token.
    - `train/token_accuracy`: Share of trained tokens that are the most probable one.
    - `batch/loss`: Loss of a few held-out rows, between validations of all of them.
    - `batch/token_accuracy`: Token accuracy of the same rows.
    - `train/skipped_steps`: Optimizer steps that were left out because loss or gradient was not finite.
    - `train/sampler_kl_k3`: Distance of the trained policy from the one that sampled (KL, estimator
    k3).
    - `train/sampler_max_abs_log_ratio`: Largest difference of log-probs between sampler and trainer.
    - `train/clipped_share`: Share of trained tokens whose ratio the loss clipped.
    - `train/masked_share`: Share of trained tokens that `mismatch.sequence_mask` or
    `mismatch.max_log_ratio` left out.
    - `train/truncated_share`: Share of trained tokens that `mismatch.truncation` weighed less.
    - `train/base_kl`: Distance of the policy from the model that training started from (KL, estimator
    k1).
    - `groups/trained`: Number of groups that the step trained on.
    - `groups/zero_variance`: Number of groups whose rollouts are all worth the same, which train
    nothing.
    - `groups/masked`: Number of groups with too few graded rollouts.
    - `preference/logprob_accuracy`: Share of pairs whose preferred answer is more probable than the
    rejected one.
    - `preference/chosen_logprob`: Mean log-prob of a whole preferred answer.
    - `preference/rejected_logprob`: Mean log-prob of a whole rejected answer.
    - `preference/accuracy`: Share of pairs whose preferred answer has the higher implicit reward. The
    model that training started from has 0 by definition.
    - `preference/margin`: Mean implicit reward of the preferred answer less that of the rejected one.
    - `preference/chosen_reward`: Mean implicit reward of the preferred answers: beta times their log-
    prob less that under the model that training started from. Below 0 they have become less probable.
    - `preference/rejected_reward`: The same of the rejected answers.
    - `staleness/mean`: Mean number of versions published between a rollout's dispatch and its training.
    - `staleness/max`: Largest number of such versions.
    - `staleness/discarded_share`: Share of rollouts that were given up because they became too old.
    - `staleness/group_s_mean`: Mean seconds from the dispatch of a trained group to its end.
    - `staleness/given_up_group_s_mean`: Mean seconds that the groups given up had lasted. Far above the
    line before, training prefers rollouts that are fast.
    - `queue/depth`: Finished rollouts that wait for a later step.
    - `queue/in_flight`: Rollouts that are dispatched and not finished.
    - `idle/trainer_share`: Share of the step's time in which the trainer waited.
    - `idle/sampler_share`: Share of the step's time without a request at the engine.
    - `publish/probe_max_abs_logprob_diff`: Largest difference of log-probs between engine and trainer
    on fixed tokens, after the adapter was published.
    - `time/sampling_s`: Seconds of sampling.
    - `time/training_s`: Seconds of training.
    - `time/publish_s`: Seconds until the engine served the new adapter.
    - `time/eval_s`: Seconds of the validation.
    - `time/step_s`: Seconds of the whole step, with publishing and validation.

    Args:
        job_id (str):
        names (list[str] | None | Unset): Curves to return, repeated or separated by commas;
            unknown ones are refused
        split (ListFineTuningJobMetricsSplitType0 | None | Unset):
        after_step (int | None | Unset):
        max_points (int | Unset):  Default: 500.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageCurve]
     """


    kwargs = _get_kwargs(
        job_id=job_id,
names=names,
split=split,
after_step=after_step,
max_points=max_points,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    job_id: str,
    *,
    client: AuthenticatedClient,
    names: list[str] | None | Unset = UNSET,
    split: ListFineTuningJobMetricsSplitType0 | None | Unset = UNSET,
    after_step: int | None | Unset = UNSET,
    max_points: int | Unset = 500,

) -> ErrorEnvelope | PageCurve | None:
    """ List Metrics

     The points of a job's curves, thinned to `max_points`. A part of a name in angle brackets stands for
    a tool, a child of the grader, a component or a failure class.

    - `reward/mean`: Mean reward that the grader gave, without the penalties of `objective`.
    - `reward/std`: Standard deviation of these rewards.
    - `reward/min`: Lowest of these rewards.
    - `reward/max`: Highest of these rewards.
    - `reward/p10`: Their 10th percentile: a tenth of the rollouts earned less.
    - `reward/p90`: Their 90th percentile: a tenth of the rollouts earned more.
    - `objective/mean`: Mean reward less all terms of `objective`; advantages are computed from it.
    - `objective/clamped_mean`: Mean that `clamp_limit_stop` took from the reward.
    - `objective/token_penalty_mean`: Mean that the penalty on tokens took.
    - `objective/call_budget_penalty_mean`: Mean that calls over the budget took.
    - `objective/repeated_call_penalty_mean`: Mean that repeated calls took.
    - `objective/overlong_penalty_mean`: Mean that `overlong` took.
    - `reward/component/<name>`: Mean of a number that the grader reports beside the reward, or of a
    child of a `multi` grader, over the rollouts that have it.
    - `tokens/completion_mean`: Mean tokens that the policy wrote in a rollout.
    - `tokens/reasoning_mean`: Mean tokens of reasoning among them.
    - `tokens/prompt_mean`: Mean tokens of the prompt.
    - `turns/mean`: Mean turns of the policy in a rollout.
    - `tool_calls/mean`: Mean tool calls in a rollout.
    - `tool_calls/repeated_mean`: Mean calls with the name and arguments of an earlier one of the same
    rollout.
    - `tool_calls/retries_mean`: Mean attempts of a rollout's calls beyond the first.
    - `tool_calls/parse_errors_mean`: Mean turns of a rollout that could not be parsed as a tool call or
    an answer.
    - `environment/steps_mean`: Mean steps of the HTTP environment in a rollout.
    - `environment/latency_s_mean`: Mean seconds that a step took.
    - `environment/retries_mean`: Mean attempts of a rollout's steps beyond the first.
    - `environment/reward_mean`: Mean sum of the rewards of a rollout's steps, whichever grader gives
    the reward.
    - `environment/done_share`: Share of rollouts that the environment ended, not a limit.
    - `environment/errors`: Number of rollouts that were lost to failures of the environment.
    - `rollouts/limit_stop_share`: Share of rollouts that ended at a limit (tokens, turns, time) instead
    of with an answer.
    - `rollouts/valid`: Number of rollouts that were graded; all means are over these.
    - `discarded/count`: Number of rollouts that were lost to failures of tools, environments or
    graders.
    - `discarded/share`: Share of rollouts that were lost so.
    - `discarded/<failure class>`: Number of rollouts that were lost to failures of one class.
    - `tool/<tool>/calls_mean`: Mean calls of one tool in a rollout. `(unknown)` counts names that no
    tool has, `(unparsable)` calls that could not be parsed.
    - `tool/<tool>/tokens_per_call`: Mean tokens of its replies.
    - `tool/<tool>/latency_s_mean`: Mean seconds that its calls took.
    - `tool/<tool>/retries`: Number of attempts of its calls beyond the first.
    - `tool/<tool>/errors`: Number of its calls that were answered with an error that the policy reads.
    - `tool/<tool>/errors/<kind>`: Number of these of one kind.
    - `grader/error_share`: Share of rollouts whose grade carries an error flag, or whose grader failed,
    among those that reached the grader.
    - `grader/latency_s_mean`: Mean seconds that a grade took.
    - `grader/measured`: Number of rollouts that the grader scored.
    - `grader/prompt_tokens`: Tokens of the judge's prompts, summed.
    - `grader/prompt_tokens_mean`: Mean tokens of a judge's prompts for one grade; a judge of whole
    groups counts each rollout's share.
    - `grader/completion_tokens`: Tokens that the judge wrote, summed.
    - `grader/completion_tokens_mean`: Mean tokens that the judge wrote.
    - `grader/cached_tokens`: Prompt tokens that the judge had in its cache, summed.
    - `grader/cached_tokens_mean`: Mean prompt tokens that the judge had in its cache.
    - `grader/judge_calls`: Answers of the judge, summed: the tokens divided by them are the cost of one
    question, of one about a whole group with a judge of groups.
    - `grader/judge_calls_mean`: Mean answers of the judge for one grade.
    - `grader/errors/<flag>`: Number of grades that carry one error flag.
    - `grader/<child>/latency_s_mean`: Mean seconds that a grade took.
    - `grader/<child>/measured`: Number of rollouts that the grader scored.
    - `grader/<child>/prompt_tokens`: Tokens of the judge's prompts, summed.
    - `grader/<child>/prompt_tokens_mean`: Mean tokens of a judge's prompts for one grade; a judge of
    whole groups counts each rollout's share.
    - `grader/<child>/completion_tokens`: Tokens that the judge wrote, summed.
    - `grader/<child>/completion_tokens_mean`: Mean tokens that the judge wrote.
    - `grader/<child>/cached_tokens`: Prompt tokens that the judge had in its cache, summed.
    - `grader/<child>/cached_tokens_mean`: Mean prompt tokens that the judge had in its cache.
    - `grader/<child>/judge_calls`: Answers of the judge, summed: the tokens divided by them are the
    cost of one question, of one about a whole group with a judge of groups.
    - `grader/<child>/judge_calls_mean`: Mean answers of the judge for one grade.
    - `grader/<child>/errors/<flag>`: Number of grades that carry one error flag.
    - `grader/<child>/discarded`: Number of rollouts that were lost because this child failed.
    - `train/loss`: Loss of the step, before its update; of the held-out rows in validations.
    - `train/grad_norm`: Norm of the gradient before it was clipped.
    - `train/learning_rate`: Learning rate of the step.
    - `train/tokens`: Tokens that the loss is divided by; their sum is `trained_tokens`.
    - `train/computed_tokens`: Trained tokens that could move a weight: their advantage is not 0.
    - `train/entropy`: Mean entropy of the policy, in nats per trained token.
    - `train/token_accuracy`: Share of trained tokens that are the most probable one.
    - `batch/loss`: Loss of a few held-out rows, between validations of all of them.
    - `batch/token_accuracy`: Token accuracy of the same rows.
    - `train/skipped_steps`: Optimizer steps that were left out because loss or gradient was not finite.
    - `train/sampler_kl_k3`: Distance of the trained policy from the one that sampled (KL, estimator
    k3).
    - `train/sampler_max_abs_log_ratio`: Largest difference of log-probs between sampler and trainer.
    - `train/clipped_share`: Share of trained tokens whose ratio the loss clipped.
    - `train/masked_share`: Share of trained tokens that `mismatch.sequence_mask` or
    `mismatch.max_log_ratio` left out.
    - `train/truncated_share`: Share of trained tokens that `mismatch.truncation` weighed less.
    - `train/base_kl`: Distance of the policy from the model that training started from (KL, estimator
    k1).
    - `groups/trained`: Number of groups that the step trained on.
    - `groups/zero_variance`: Number of groups whose rollouts are all worth the same, which train
    nothing.
    - `groups/masked`: Number of groups with too few graded rollouts.
    - `preference/logprob_accuracy`: Share of pairs whose preferred answer is more probable than the
    rejected one.
    - `preference/chosen_logprob`: Mean log-prob of a whole preferred answer.
    - `preference/rejected_logprob`: Mean log-prob of a whole rejected answer.
    - `preference/accuracy`: Share of pairs whose preferred answer has the higher implicit reward. The
    model that training started from has 0 by definition.
    - `preference/margin`: Mean implicit reward of the preferred answer less that of the rejected one.
    - `preference/chosen_reward`: Mean implicit reward of the preferred answers: beta times their log-
    prob less that under the model that training started from. Below 0 they have become less probable.
    - `preference/rejected_reward`: The same of the rejected answers.
    - `staleness/mean`: Mean number of versions published between a rollout's dispatch and its training.
    - `staleness/max`: Largest number of such versions.
    - `staleness/discarded_share`: Share of rollouts that were given up because they became too old.
    - `staleness/group_s_mean`: Mean seconds from the dispatch of a trained group to its end.
    - `staleness/given_up_group_s_mean`: Mean seconds that the groups given up had lasted. Far above the
    line before, training prefers rollouts that are fast.
    - `queue/depth`: Finished rollouts that wait for a later step.
    - `queue/in_flight`: Rollouts that are dispatched and not finished.
    - `idle/trainer_share`: Share of the step's time in which the trainer waited.
    - `idle/sampler_share`: Share of the step's time without a request at the engine.
    - `publish/probe_max_abs_logprob_diff`: Largest difference of log-probs between engine and trainer
    on fixed tokens, after the adapter was published.
    - `time/sampling_s`: Seconds of sampling.
    - `time/training_s`: Seconds of training.
    - `time/publish_s`: Seconds until the engine served the new adapter.
    - `time/eval_s`: Seconds of the validation.
    - `time/step_s`: Seconds of the whole step, with publishing and validation.

    Args:
        job_id (str):
        names (list[str] | None | Unset): Curves to return, repeated or separated by commas;
            unknown ones are refused
        split (ListFineTuningJobMetricsSplitType0 | None | Unset):
        after_step (int | None | Unset):
        max_points (int | Unset):  Default: 500.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageCurve
     """


    return (await asyncio_detailed(
        job_id=job_id,
client=client,
names=names,
split=split,
after_step=after_step,
max_points=max_points,

    )).parsed
