from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.usage_fine_tuning_bucket_width import check_usage_fine_tuning_bucket_width
from ...models.usage_fine_tuning_bucket_width import UsageFineTuningBucketWidth
from ...models.usage_fine_tuning_group_by_type_0_item import check_usage_fine_tuning_group_by_type_0_item
from ...models.usage_fine_tuning_group_by_type_0_item import UsageFineTuningGroupByType0Item
from ...models.usage_page_object_fine_tuning_usage import UsagePageObjectFineTuningUsage
from ...types import UNSET, Unset
from typing import cast



def _get_kwargs(
    *,
    job_ids: list[str] | None | Unset = UNSET,
    group_by: list[UsageFineTuningGroupByType0Item] | None | Unset = UNSET,
    start_time: int,
    end_time: int | None | Unset = UNSET,
    bucket_width: UsageFineTuningBucketWidth | Unset = '1d',
    project_ids: list[str] | None | Unset = UNSET,
    api_key_ids: list[str] | None | Unset = UNSET,
    models: list[str] | None | Unset = UNSET,
    limit: int | None | Unset = UNSET,
    page: None | str | Unset = UNSET,

) -> dict[str, Any]:
    

    

    params: dict[str, Any] = {}

    json_job_ids: list[str] | None | Unset
    if isinstance(job_ids, Unset):
        json_job_ids = UNSET
    elif isinstance(job_ids, list):
        json_job_ids = job_ids


    else:
        json_job_ids = job_ids
    params["job_ids"] = json_job_ids

    json_group_by: list[str] | None | Unset
    if isinstance(group_by, Unset):
        json_group_by = UNSET
    elif isinstance(group_by, list):
        json_group_by = []
        for group_by_type_0_item_data in group_by:
            group_by_type_0_item: str = group_by_type_0_item_data
            json_group_by.append(group_by_type_0_item)


    else:
        json_group_by = group_by
    params["group_by"] = json_group_by

    params["start_time"] = start_time

    json_end_time: int | None | Unset
    if isinstance(end_time, Unset):
        json_end_time = UNSET
    else:
        json_end_time = end_time
    params["end_time"] = json_end_time

    json_bucket_width: str | Unset = UNSET
    if not isinstance(bucket_width, Unset):
        json_bucket_width = bucket_width

    params["bucket_width"] = json_bucket_width

    json_project_ids: list[str] | None | Unset
    if isinstance(project_ids, Unset):
        json_project_ids = UNSET
    elif isinstance(project_ids, list):
        json_project_ids = project_ids


    else:
        json_project_ids = project_ids
    params["project_ids"] = json_project_ids

    json_api_key_ids: list[str] | None | Unset
    if isinstance(api_key_ids, Unset):
        json_api_key_ids = UNSET
    elif isinstance(api_key_ids, list):
        json_api_key_ids = api_key_ids


    else:
        json_api_key_ids = api_key_ids
    params["api_key_ids"] = json_api_key_ids

    json_models: list[str] | None | Unset
    if isinstance(models, Unset):
        json_models = UNSET
    elif isinstance(models, list):
        json_models = models


    else:
        json_models = models
    params["models"] = json_models

    json_limit: int | None | Unset
    if isinstance(limit, Unset):
        json_limit = UNSET
    else:
        json_limit = limit
    params["limit"] = json_limit

    json_page: None | str | Unset
    if isinstance(page, Unset):
        json_page = UNSET
    else:
        json_page = page
    params["page"] = json_page


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/organization/usage/fine_tuning",
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | UsagePageObjectFineTuningUsage | None:
    if response.status_code == 200:
        response_200 = UsagePageObjectFineTuningUsage.from_dict(response.json())



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | UsagePageObjectFineTuningUsage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    job_ids: list[str] | None | Unset = UNSET,
    group_by: list[UsageFineTuningGroupByType0Item] | None | Unset = UNSET,
    start_time: int,
    end_time: int | None | Unset = UNSET,
    bucket_width: UsageFineTuningBucketWidth | Unset = '1d',
    project_ids: list[str] | None | Unset = UNSET,
    api_key_ids: list[str] | None | Unset = UNSET,
    models: list[str] | None | Unset = UNSET,
    limit: int | None | Unset = UNSET,
    page: None | str | Unset = UNSET,

) -> Response[ErrorEnvelope | UsagePageObjectFineTuningUsage]:
    """ Fine Tuning Usage

     Shows what training runs used, in buckets of time. A step counts when it is committed.

    Args:
        job_ids (list[str] | None | Unset): Only usage of these jobs
        group_by (list[UsageFineTuningGroupByType0Item] | None | Unset): A result for each
            project, API key, model or job; repeated for several
        start_time (int): Unix seconds at which the usage begins
        end_time (int | None | Unset): Unix seconds before which it ends; absent: now
        bucket_width (UsageFineTuningBucketWidth | Unset): Width of a bucket Default: '1d'.
        project_ids (list[str] | None | Unset): Only usage of these projects
        api_key_ids (list[str] | None | Unset): Only usage of these API keys
        models (list[str] | None | Unset): Only usage of these models
        limit (int | None | Unset): Buckets of a page: of `1m` 60, at most 1,440; of `1h` 24, at
            most 168; of `1d` 7, at most 31
        page (None | str | Unset): `next_page` of the page before

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | UsagePageObjectFineTuningUsage]
     """


    kwargs = _get_kwargs(
        job_ids=job_ids,
group_by=group_by,
start_time=start_time,
end_time=end_time,
bucket_width=bucket_width,
project_ids=project_ids,
api_key_ids=api_key_ids,
models=models,
limit=limit,
page=page,

    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)

def sync(
    *,
    client: AuthenticatedClient,
    job_ids: list[str] | None | Unset = UNSET,
    group_by: list[UsageFineTuningGroupByType0Item] | None | Unset = UNSET,
    start_time: int,
    end_time: int | None | Unset = UNSET,
    bucket_width: UsageFineTuningBucketWidth | Unset = '1d',
    project_ids: list[str] | None | Unset = UNSET,
    api_key_ids: list[str] | None | Unset = UNSET,
    models: list[str] | None | Unset = UNSET,
    limit: int | None | Unset = UNSET,
    page: None | str | Unset = UNSET,

) -> ErrorEnvelope | UsagePageObjectFineTuningUsage | None:
    """ Fine Tuning Usage

     Shows what training runs used, in buckets of time. A step counts when it is committed.

    Args:
        job_ids (list[str] | None | Unset): Only usage of these jobs
        group_by (list[UsageFineTuningGroupByType0Item] | None | Unset): A result for each
            project, API key, model or job; repeated for several
        start_time (int): Unix seconds at which the usage begins
        end_time (int | None | Unset): Unix seconds before which it ends; absent: now
        bucket_width (UsageFineTuningBucketWidth | Unset): Width of a bucket Default: '1d'.
        project_ids (list[str] | None | Unset): Only usage of these projects
        api_key_ids (list[str] | None | Unset): Only usage of these API keys
        models (list[str] | None | Unset): Only usage of these models
        limit (int | None | Unset): Buckets of a page: of `1m` 60, at most 1,440; of `1h` 24, at
            most 168; of `1d` 7, at most 31
        page (None | str | Unset): `next_page` of the page before

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | UsagePageObjectFineTuningUsage
     """


    return sync_detailed(
        client=client,
job_ids=job_ids,
group_by=group_by,
start_time=start_time,
end_time=end_time,
bucket_width=bucket_width,
project_ids=project_ids,
api_key_ids=api_key_ids,
models=models,
limit=limit,
page=page,

    ).parsed

async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    job_ids: list[str] | None | Unset = UNSET,
    group_by: list[UsageFineTuningGroupByType0Item] | None | Unset = UNSET,
    start_time: int,
    end_time: int | None | Unset = UNSET,
    bucket_width: UsageFineTuningBucketWidth | Unset = '1d',
    project_ids: list[str] | None | Unset = UNSET,
    api_key_ids: list[str] | None | Unset = UNSET,
    models: list[str] | None | Unset = UNSET,
    limit: int | None | Unset = UNSET,
    page: None | str | Unset = UNSET,

) -> Response[ErrorEnvelope | UsagePageObjectFineTuningUsage]:
    """ Fine Tuning Usage

     Shows what training runs used, in buckets of time. A step counts when it is committed.

    Args:
        job_ids (list[str] | None | Unset): Only usage of these jobs
        group_by (list[UsageFineTuningGroupByType0Item] | None | Unset): A result for each
            project, API key, model or job; repeated for several
        start_time (int): Unix seconds at which the usage begins
        end_time (int | None | Unset): Unix seconds before which it ends; absent: now
        bucket_width (UsageFineTuningBucketWidth | Unset): Width of a bucket Default: '1d'.
        project_ids (list[str] | None | Unset): Only usage of these projects
        api_key_ids (list[str] | None | Unset): Only usage of these API keys
        models (list[str] | None | Unset): Only usage of these models
        limit (int | None | Unset): Buckets of a page: of `1m` 60, at most 1,440; of `1h` 24, at
            most 168; of `1d` 7, at most 31
        page (None | str | Unset): `next_page` of the page before

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | UsagePageObjectFineTuningUsage]
     """


    kwargs = _get_kwargs(
        job_ids=job_ids,
group_by=group_by,
start_time=start_time,
end_time=end_time,
bucket_width=bucket_width,
project_ids=project_ids,
api_key_ids=api_key_ids,
models=models,
limit=limit,
page=page,

    )

    response = await client.get_async_httpx_client().request(
        **kwargs
    )

    return _build_response(client=client, response=response)

async def asyncio(
    *,
    client: AuthenticatedClient,
    job_ids: list[str] | None | Unset = UNSET,
    group_by: list[UsageFineTuningGroupByType0Item] | None | Unset = UNSET,
    start_time: int,
    end_time: int | None | Unset = UNSET,
    bucket_width: UsageFineTuningBucketWidth | Unset = '1d',
    project_ids: list[str] | None | Unset = UNSET,
    api_key_ids: list[str] | None | Unset = UNSET,
    models: list[str] | None | Unset = UNSET,
    limit: int | None | Unset = UNSET,
    page: None | str | Unset = UNSET,

) -> ErrorEnvelope | UsagePageObjectFineTuningUsage | None:
    """ Fine Tuning Usage

     Shows what training runs used, in buckets of time. A step counts when it is committed.

    Args:
        job_ids (list[str] | None | Unset): Only usage of these jobs
        group_by (list[UsageFineTuningGroupByType0Item] | None | Unset): A result for each
            project, API key, model or job; repeated for several
        start_time (int): Unix seconds at which the usage begins
        end_time (int | None | Unset): Unix seconds before which it ends; absent: now
        bucket_width (UsageFineTuningBucketWidth | Unset): Width of a bucket Default: '1d'.
        project_ids (list[str] | None | Unset): Only usage of these projects
        api_key_ids (list[str] | None | Unset): Only usage of these API keys
        models (list[str] | None | Unset): Only usage of these models
        limit (int | None | Unset): Buckets of a page: of `1m` 60, at most 1,440; of `1h` 24, at
            most 168; of `1d` 7, at most 31
        page (None | str | Unset): `next_page` of the page before

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | UsagePageObjectFineTuningUsage
     """


    return (await asyncio_detailed(
        client=client,
job_ids=job_ids,
group_by=group_by,
start_time=start_time,
end_time=end_time,
bucket_width=bucket_width,
project_ids=project_ids,
api_key_ids=api_key_ids,
models=models,
limit=limit,
page=page,

    )).parsed
