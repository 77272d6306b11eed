"""Lists of 250 rows by the unmodified Python client: every row once, in order, whatever happens."""

from itertools import islice
from typing import Any

import pytest

from tests.support.contract.evals import make, run_worker, sampled
from tests.support.contract.listings import (
    BARE_MODEL,
    COUNT,
    LISTINGS,
    MODEL,
    OWN,
    ListedRows,
    Listing,
    copies,
    permit,
)
from tests.support.contract.service import BASE, ROW, Service

every_list = pytest.mark.parametrize("listing", LISTINGS.values(), ids=LISTINGS)


@pytest.fixture(scope="module")
def rows(service: Service) -> ListedRows:
    client = service.client()
    service.engine.models = {BASE}
    file = client.files.create(file=ROW * 12, purpose="fine-tune")
    check: Any = {"type": "string_check", "name": "g", "operation": "eq"}
    method: Any = {
        "type": "reinforcement",
        "reinforcement": {"grader": {**check, "input": "a", "reference": "a"}},
    }
    options: Any = {"training_file": file.id, "validation_file": file.id, "method": method}
    job, bare = [client.fine_tuning.jobs.create(model="tiny-agent", **options) for _ in range(2)]
    for listed_job in (job, bare):
        client.fine_tuning.jobs.cancel(listed_job.id)
    service.execute("DELETE FROM job_events")
    listed, of, bare_eval = make(client), make(client), make(client)
    run, bare_run = [client.evals.runs.create(of.id, data_source=sampled("hello")) for _ in "ab"]
    run_worker(service, run.id)
    (item,) = client.evals.runs.output_items.list(run.id, eval_id=of.id).data
    project = service.project_of(service.api.key)
    made = ListedRows(
        job=job.id,
        file=file.id,
        eval=of.id,
        run=run.id,
        item=item.id,
        listed_eval=listed.id,
        bare_job=bare.id,
        bare_eval=bare_eval.id,
        bare_run=bare_run.id,
        newest_eval=bare_eval.id,
        project=project,
    )
    fill(service, made)
    return made


def fill(service: Service, rows: ListedRows) -> None:
    service.add_rows(rows.job, events=COUNT, checkpoints=COUNT)
    sources = (rows.job, rows.file, rows.listed_eval, rows.run, rows.item)
    for (table, own), source in zip(OWN.items(), sources, strict=True):
        copies(service, table, source, (1, COUNT), own)
    service.add_tuned_model(rows.job, MODEL, "paged")
    service.add_tuned_model(rows.job, BARE_MODEL, "bare")
    service.add_projects(rows.project, COUNT + 1)
    permit(service, rows, (1, COUNT))


def ids(listing: Listing, rows: ListedRows, found: Any) -> list[str]:
    return [row.id for row in found if row.id.startswith(listing.counted(rows))]


@every_list
def test_every_row_is_listed_once_and_in_order(
    service: Service, rows: ListedRows, listing: Listing
) -> None:
    client, expected = service.client(), listing.ids(rows)
    assert len(set(expected)) == COUNT
    found = ids(listing, rows, listing.call(client, rows, limit=100))
    assert found == expected
    first = listing.call(client, rows, limit=7)
    assert first.has_more is True
    ends = first.model_dump()
    assert (ends["first_id"], ends["last_id"]) == (first.data[0].id, first.data[-1].id)
    assert ids(listing, rows, first.data) == expected[: len(first.data)]
    singly = islice(listing.call(client, rows, limit=1), 6)
    assert ids(listing, rows, singly) == expected[:6]
    rest = ids(listing, rows, listing.call(client, rows, limit=30, after=expected[199]))
    assert rest == expected[200:]


@every_list
async def test_the_async_client_lists_alike(
    service: Service, rows: ListedRows, listing: Listing
) -> None:
    async with service.async_client() as client:
        found = [row async for row in listing.call(client, rows, limit=100)]
        assert ids(listing, rows, found) == listing.ids(rows)
        page = await listing.call(client, rows, limit=1)
        assert (len(page.data), page.has_more) == (1, True)


@every_list
def test_a_row_that_comes_while_paging_shifts_nothing(
    service: Service, rows: ListedRows, listing: Listing
) -> None:
    expected = listing.ids(rows)
    pages = iter(listing.call(service.client(), rows, limit=50))
    found = [page for _, page in zip(range(60), pages, strict=False)]
    newer = listing.newer(service, rows)
    try:
        found += pages
        assert ids(listing, rows, found) == expected + ([newer] if listing.ascending else [])
        again = ids(listing, rows, listing.call(service.client(), rows, limit=100))
        assert again == ([*expected, newer] if listing.ascending else [newer, *expected])
    finally:
        service.execute(f"DELETE FROM {listing.table} WHERE id = %s", newer)


@every_list
def test_an_empty_list_is_a_page(service: Service, rows: ListedRows, listing: Listing) -> None:
    page = listing.nothing(service.client(), rows)
    assert (page.data, page.has_more) == ([], False)
    assert list(page) == []
