from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.failure_class import check_failure_class
from ...models.failure_class import FailureClass
from ...models.list_fine_tuning_job_rollouts_order import check_list_fine_tuning_job_rollouts_order
from ...models.list_fine_tuning_job_rollouts_order import ListFineTuningJobRolloutsOrder
from ...models.list_fine_tuning_job_rollouts_order_by import check_list_fine_tuning_job_rollouts_order_by
from ...models.list_fine_tuning_job_rollouts_order_by import ListFineTuningJobRolloutsOrderBy
from ...models.list_fine_tuning_job_rollouts_split_type_0 import check_list_fine_tuning_job_rollouts_split_type_0
from ...models.list_fine_tuning_job_rollouts_split_type_0 import ListFineTuningJobRolloutsSplitType0
from ...models.page_rollout import PageRollout
from ...models.stop_reason import check_stop_reason
from ...models.stop_reason import StopReason
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    job_id: str,
    *,
    split: ListFineTuningJobRolloutsSplitType0 | None | Unset = UNSET,
    step: int | None | Unset = UNSET,
    prompt_index: int | None | Unset = UNSET,
    min_reward: float | None | Unset = UNSET,
    max_reward: float | None | Unset = UNSET,
    stop_reason: None | StopReason | Unset = UNSET,
    failure_class: FailureClass | None | Unset = UNSET,
    failed: bool | None | Unset = UNSET,
    tool: None | str | Unset = UNSET,
    repeated_call: bool | None | Unset = UNSET,
    order_by: ListFineTuningJobRolloutsOrderBy | Unset = 'step',
    order: ListFineTuningJobRolloutsOrder | Unset = 'asc',
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    json_split: None | str | Unset
    if isinstance(split, Unset):
        json_split = UNSET
    elif isinstance(split, str):
        json_split = split
    else:
        json_split = split
    params["split"] = json_split

    json_step: int | None | Unset
    if isinstance(step, Unset):
        json_step = UNSET
    else:
        json_step = step
    params["step"] = json_step

    json_prompt_index: int | None | Unset
    if isinstance(prompt_index, Unset):
        json_prompt_index = UNSET
    else:
        json_prompt_index = prompt_index
    params["prompt_index"] = json_prompt_index

    json_min_reward: float | None | Unset
    if isinstance(min_reward, Unset):
        json_min_reward = UNSET
    else:
        json_min_reward = min_reward
    params["min_reward"] = json_min_reward

    json_max_reward: float | None | Unset
    if isinstance(max_reward, Unset):
        json_max_reward = UNSET
    else:
        json_max_reward = max_reward
    params["max_reward"] = json_max_reward

    json_stop_reason: None | str | Unset
    if isinstance(stop_reason, Unset):
        json_stop_reason = UNSET
    elif isinstance(stop_reason, str):
        json_stop_reason = stop_reason
    else:
        json_stop_reason = stop_reason
    params["stop_reason"] = json_stop_reason

    json_failure_class: None | str | Unset
    if isinstance(failure_class, Unset):
        json_failure_class = UNSET
    elif isinstance(failure_class, str):
        json_failure_class = failure_class
    else:
        json_failure_class = failure_class
    params["failure_class"] = json_failure_class

    json_failed: bool | None | Unset
    if isinstance(failed, Unset):
        json_failed = UNSET
    else:
        json_failed = failed
    params["failed"] = json_failed

    json_tool: None | str | Unset
    if isinstance(tool, Unset):
        json_tool = UNSET
    else:
        json_tool = tool
    params["tool"] = json_tool

    json_repeated_call: bool | None | Unset
    if isinstance(repeated_call, Unset):
        json_repeated_call = UNSET
    else:
        json_repeated_call = repeated_call
    params["repeated_call"] = json_repeated_call

    json_order_by: str | Unset = UNSET
    if not isinstance(order_by, Unset):
        json_order_by = order_by

    params["order_by"] = json_order_by

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order

    params["order"] = json_order

    json_after: None | str | Unset
    if isinstance(after, Unset):
        json_after = UNSET
    else:
        json_after = after
    params["after"] = json_after

    params["limit"] = limit


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/fine_tuning/jobs/{job_id}/rollouts".format(job_id=quote(str(job_id), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | PageRollout | None:
    if response.status_code == 200:
        response_200 = PageRollout.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | PageRollout]:
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
    split: ListFineTuningJobRolloutsSplitType0 | None | Unset = UNSET,
    step: int | None | Unset = UNSET,
    prompt_index: int | None | Unset = UNSET,
    min_reward: float | None | Unset = UNSET,
    max_reward: float | None | Unset = UNSET,
    stop_reason: None | StopReason | Unset = UNSET,
    failure_class: FailureClass | None | Unset = UNSET,
    failed: bool | None | Unset = UNSET,
    tool: None | str | Unset = UNSET,
    repeated_call: bool | None | Unset = UNSET,
    order_by: ListFineTuningJobRolloutsOrderBy | Unset = 'step',
    order: ListFineTuningJobRolloutsOrder | Unset = 'asc',
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,

) -> Response[ErrorEnvelope | PageRollout]:
    """ List Rollouts

     Lists the training and validation rollouts that meet every condition sent. An unknown
    parameter answers 400.

    Args:
        job_id (str):
        split (ListFineTuningJobRolloutsSplitType0 | None | Unset):
        step (int | None | Unset):
        prompt_index (int | None | Unset): Row number in the split's file, from 0
        min_reward (float | None | Unset): Reward at least
        max_reward (float | None | Unset): Reward at most
        stop_reason (None | StopReason | Unset): Why the rollout ended: an answer, or the limit
            that it reached
        failure_class (FailureClass | None | Unset): The failure that the rollout was lost to; it
            has no reward
        failed (bool | None | Unset): `true`: rollouts that were lost to any failure; `false`:
            others
        tool (None | str | Unset): A tool that the rollout called
        repeated_call (bool | None | Unset): `true`: rollouts with a call of the same tool and
            arguments as an earlier one of theirs; `false`: others
        order_by (ListFineTuningJobRolloutsOrderBy | Unset): `reward` lists graded rollouts only,
            of equal reward by step Default: 'step'.
        order (ListFineTuningJobRolloutsOrder | Unset):  Default: 'asc'.
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset):  Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageRollout]
     """


    kwargs = _get_kwargs(
        job_id=job_id,
split=split,
step=step,
prompt_index=prompt_index,
min_reward=min_reward,
max_reward=max_reward,
stop_reason=stop_reason,
failure_class=failure_class,
failed=failed,
tool=tool,
repeated_call=repeated_call,
order_by=order_by,
order=order,
after=after,
limit=limit,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    job_id: str,
    *,
    client: AuthenticatedClient,
    split: ListFineTuningJobRolloutsSplitType0 | None | Unset = UNSET,
    step: int | None | Unset = UNSET,
    prompt_index: int | None | Unset = UNSET,
    min_reward: float | None | Unset = UNSET,
    max_reward: float | None | Unset = UNSET,
    stop_reason: None | StopReason | Unset = UNSET,
    failure_class: FailureClass | None | Unset = UNSET,
    failed: bool | None | Unset = UNSET,
    tool: None | str | Unset = UNSET,
    repeated_call: bool | None | Unset = UNSET,
    order_by: ListFineTuningJobRolloutsOrderBy | Unset = 'step',
    order: ListFineTuningJobRolloutsOrder | Unset = 'asc',
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,

) -> ErrorEnvelope | PageRollout | None:
    """ List Rollouts

     Lists the training and validation rollouts that meet every condition sent. An unknown
    parameter answers 400.

    Args:
        job_id (str):
        split (ListFineTuningJobRolloutsSplitType0 | None | Unset):
        step (int | None | Unset):
        prompt_index (int | None | Unset): Row number in the split's file, from 0
        min_reward (float | None | Unset): Reward at least
        max_reward (float | None | Unset): Reward at most
        stop_reason (None | StopReason | Unset): Why the rollout ended: an answer, or the limit
            that it reached
        failure_class (FailureClass | None | Unset): The failure that the rollout was lost to; it
            has no reward
        failed (bool | None | Unset): `true`: rollouts that were lost to any failure; `false`:
            others
        tool (None | str | Unset): A tool that the rollout called
        repeated_call (bool | None | Unset): `true`: rollouts with a call of the same tool and
            arguments as an earlier one of theirs; `false`: others
        order_by (ListFineTuningJobRolloutsOrderBy | Unset): `reward` lists graded rollouts only,
            of equal reward by step Default: 'step'.
        order (ListFineTuningJobRolloutsOrder | Unset):  Default: 'asc'.
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset):  Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageRollout
     """


    return sync_detailed(
        job_id=job_id,
client=client,
split=split,
step=step,
prompt_index=prompt_index,
min_reward=min_reward,
max_reward=max_reward,
stop_reason=stop_reason,
failure_class=failure_class,
failed=failed,
tool=tool,
repeated_call=repeated_call,
order_by=order_by,
order=order,
after=after,
limit=limit,

    ).parsed

async def asyncio_detailed(
    job_id: str,
    *,
    client: AuthenticatedClient,
    split: ListFineTuningJobRolloutsSplitType0 | None | Unset = UNSET,
    step: int | None | Unset = UNSET,
    prompt_index: int | None | Unset = UNSET,
    min_reward: float | None | Unset = UNSET,
    max_reward: float | None | Unset = UNSET,
    stop_reason: None | StopReason | Unset = UNSET,
    failure_class: FailureClass | None | Unset = UNSET,
    failed: bool | None | Unset = UNSET,
    tool: None | str | Unset = UNSET,
    repeated_call: bool | None | Unset = UNSET,
    order_by: ListFineTuningJobRolloutsOrderBy | Unset = 'step',
    order: ListFineTuningJobRolloutsOrder | Unset = 'asc',
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,

) -> Response[ErrorEnvelope | PageRollout]:
    """ List Rollouts

     Lists the training and validation rollouts that meet every condition sent. An unknown
    parameter answers 400.

    Args:
        job_id (str):
        split (ListFineTuningJobRolloutsSplitType0 | None | Unset):
        step (int | None | Unset):
        prompt_index (int | None | Unset): Row number in the split's file, from 0
        min_reward (float | None | Unset): Reward at least
        max_reward (float | None | Unset): Reward at most
        stop_reason (None | StopReason | Unset): Why the rollout ended: an answer, or the limit
            that it reached
        failure_class (FailureClass | None | Unset): The failure that the rollout was lost to; it
            has no reward
        failed (bool | None | Unset): `true`: rollouts that were lost to any failure; `false`:
            others
        tool (None | str | Unset): A tool that the rollout called
        repeated_call (bool | None | Unset): `true`: rollouts with a call of the same tool and
            arguments as an earlier one of theirs; `false`: others
        order_by (ListFineTuningJobRolloutsOrderBy | Unset): `reward` lists graded rollouts only,
            of equal reward by step Default: 'step'.
        order (ListFineTuningJobRolloutsOrder | Unset):  Default: 'asc'.
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset):  Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | PageRollout]
     """


    kwargs = _get_kwargs(
        job_id=job_id,
split=split,
step=step,
prompt_index=prompt_index,
min_reward=min_reward,
max_reward=max_reward,
stop_reason=stop_reason,
failure_class=failure_class,
failed=failed,
tool=tool,
repeated_call=repeated_call,
order_by=order_by,
order=order,
after=after,
limit=limit,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    job_id: str,
    *,
    client: AuthenticatedClient,
    split: ListFineTuningJobRolloutsSplitType0 | None | Unset = UNSET,
    step: int | None | Unset = UNSET,
    prompt_index: int | None | Unset = UNSET,
    min_reward: float | None | Unset = UNSET,
    max_reward: float | None | Unset = UNSET,
    stop_reason: None | StopReason | Unset = UNSET,
    failure_class: FailureClass | None | Unset = UNSET,
    failed: bool | None | Unset = UNSET,
    tool: None | str | Unset = UNSET,
    repeated_call: bool | None | Unset = UNSET,
    order_by: ListFineTuningJobRolloutsOrderBy | Unset = 'step',
    order: ListFineTuningJobRolloutsOrder | Unset = 'asc',
    after: None | str | Unset = UNSET,
    limit: int | Unset = 20,

) -> ErrorEnvelope | PageRollout | None:
    """ List Rollouts

     Lists the training and validation rollouts that meet every condition sent. An unknown
    parameter answers 400.

    Args:
        job_id (str):
        split (ListFineTuningJobRolloutsSplitType0 | None | Unset):
        step (int | None | Unset):
        prompt_index (int | None | Unset): Row number in the split's file, from 0
        min_reward (float | None | Unset): Reward at least
        max_reward (float | None | Unset): Reward at most
        stop_reason (None | StopReason | Unset): Why the rollout ended: an answer, or the limit
            that it reached
        failure_class (FailureClass | None | Unset): The failure that the rollout was lost to; it
            has no reward
        failed (bool | None | Unset): `true`: rollouts that were lost to any failure; `false`:
            others
        tool (None | str | Unset): A tool that the rollout called
        repeated_call (bool | None | Unset): `true`: rollouts with a call of the same tool and
            arguments as an earlier one of theirs; `false`: others
        order_by (ListFineTuningJobRolloutsOrderBy | Unset): `reward` lists graded rollouts only,
            of equal reward by step Default: 'step'.
        order (ListFineTuningJobRolloutsOrder | Unset):  Default: 'asc'.
        after (None | str | Unset): Id of the last object of the previous page
        limit (int | Unset):  Default: 20.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | PageRollout
     """


    return (await asyncio_detailed(
        job_id=job_id,
client=client,
split=split,
step=step,
prompt_index=prompt_index,
min_reward=min_reward,
max_reward=max_reward,
stop_reason=stop_reason,
failure_class=failure_class,
failed=failed,
tool=tool,
repeated_call=repeated_call,
order_by=order_by,
order=order,
after=after,
limit=limit,

    )).parsed
