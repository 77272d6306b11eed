from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...types import Response, UNSET
from ... import errors

from ...models.error_envelope import ErrorEnvelope
from ...models.export_fine_tuning_job_metrics_format import check_export_fine_tuning_job_metrics_format
from ...models.export_fine_tuning_job_metrics_format import ExportFineTuningJobMetricsFormat
from ...models.export_fine_tuning_job_metrics_split_type_0 import check_export_fine_tuning_job_metrics_split_type_0
from ...models.export_fine_tuning_job_metrics_split_type_0 import ExportFineTuningJobMetricsSplitType0
from ...types import File, FileTypes
from ...types import UNSET, Unset
from io import BytesIO
from typing import cast



def _get_kwargs(
    job_id: str,
    *,
    names: list[str] | None | Unset = UNSET,
    split: ExportFineTuningJobMetricsSplitType0 | None | Unset = UNSET,
    format_: ExportFineTuningJobMetricsFormat | Unset = 'jsonl',

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

    json_format_: str | Unset = UNSET
    if not isinstance(format_, Unset):
        json_format_ = format_

    params["format"] = json_format_


    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}


    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/fine_tuning/jobs/{job_id}/metrics/export".format(job_id=quote(str(job_id), safe=""),),
        "params": params,
    }


    return _kwargs



def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ErrorEnvelope | File | None:
    if response.status_code == 200:
        response_200 = File(
             payload = BytesIO(response.content)
        )



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


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ErrorEnvelope | File]:
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
    split: ExportFineTuningJobMetricsSplitType0 | None | Unset = UNSET,
    format_: ExportFineTuningJobMetricsFormat | Unset = 'jsonl',

) -> Response[ErrorEnvelope | File]:
    """ Export Metrics

     Downloads every point of a job's curves as one file. It is written while it is sent; a
    download that breaks off has no valid end.

    Args:
        job_id (str):
        names (list[str] | None | Unset): Curves to return, repeated or separated by commas;
            unknown ones are refused
        split (ExportFineTuningJobMetricsSplitType0 | None | Unset):
        format_ (ExportFineTuningJobMetricsFormat | Unset): `jsonl`: a JSON object in each line;
            `parquet`: compressed by zstd Default: 'jsonl'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | File]
     """


    kwargs = _get_kwargs(
        job_id=job_id,
names=names,
split=split,
format_=format_,

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
    split: ExportFineTuningJobMetricsSplitType0 | None | Unset = UNSET,
    format_: ExportFineTuningJobMetricsFormat | Unset = 'jsonl',

) -> ErrorEnvelope | File | None:
    """ Export Metrics

     Downloads every point of a job's curves as one file. It is written while it is sent; a
    download that breaks off has no valid end.

    Args:
        job_id (str):
        names (list[str] | None | Unset): Curves to return, repeated or separated by commas;
            unknown ones are refused
        split (ExportFineTuningJobMetricsSplitType0 | None | Unset):
        format_ (ExportFineTuningJobMetricsFormat | Unset): `jsonl`: a JSON object in each line;
            `parquet`: compressed by zstd Default: 'jsonl'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | File
     """


    return sync_detailed(
        job_id=job_id,
client=client,
names=names,
split=split,
format_=format_,

    ).parsed

async def asyncio_detailed(
    job_id: str,
    *,
    client: AuthenticatedClient,
    names: list[str] | None | Unset = UNSET,
    split: ExportFineTuningJobMetricsSplitType0 | None | Unset = UNSET,
    format_: ExportFineTuningJobMetricsFormat | Unset = 'jsonl',

) -> Response[ErrorEnvelope | File]:
    """ Export Metrics

     Downloads every point of a job's curves as one file. It is written while it is sent; a
    download that breaks off has no valid end.

    Args:
        job_id (str):
        names (list[str] | None | Unset): Curves to return, repeated or separated by commas;
            unknown ones are refused
        split (ExportFineTuningJobMetricsSplitType0 | None | Unset):
        format_ (ExportFineTuningJobMetricsFormat | Unset): `jsonl`: a JSON object in each line;
            `parquet`: compressed by zstd Default: 'jsonl'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorEnvelope | File]
     """


    kwargs = _get_kwargs(
        job_id=job_id,
names=names,
split=split,
format_=format_,

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
    split: ExportFineTuningJobMetricsSplitType0 | None | Unset = UNSET,
    format_: ExportFineTuningJobMetricsFormat | Unset = 'jsonl',

) -> ErrorEnvelope | File | None:
    """ Export Metrics

     Downloads every point of a job's curves as one file. It is written while it is sent; a
    download that breaks off has no valid end.

    Args:
        job_id (str):
        names (list[str] | None | Unset): Curves to return, repeated or separated by commas;
            unknown ones are refused
        split (ExportFineTuningJobMetricsSplitType0 | None | Unset):
        format_ (ExportFineTuningJobMetricsFormat | Unset): `jsonl`: a JSON object in each line;
            `parquet`: compressed by zstd Default: 'jsonl'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorEnvelope | File
     """


    return (await asyncio_detailed(
        job_id=job_id,
client=client,
names=names,
split=split,
format_=format_,

    )).parsed
