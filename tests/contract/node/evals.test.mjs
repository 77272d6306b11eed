import assert from "node:assert/strict";
import test from "node:test";
import OpenAI from "openai";
import { all, facts, openai, refused, stranger } from "./client.mjs";

const criterion = {
  type: "string_check",
  name: "exact",
  operation: "eq",
  input: "{{ item.given }}",
  reference: "{{ item.answer }}",
};
const config = {
  type: "custom",
  item_schema: { type: "object", properties: { answer: { type: "string" } } },
  include_sample_schema: false,
};

async function make(name = "node") {
  return await openai.evals.create({
    name,
    data_source_config: config,
    testing_criteria: [criterion],
    metadata: { team: "node" },
  });
}

const source = {
  type: "jsonl",
  source: { type: "file_content", content: [{ item: { given: "a", answer: "a" } }] },
};

test("an eval is created, read, changed, listed and deleted", async () => {
  const made = await make();
  assert.equal(made.object, "eval");
  assert.equal((await openai.evals.retrieve(made.id)).name, "node");
  assert.equal((await openai.evals.update(made.id, { name: "other" })).name, "other");
  const page = await openai.evals.list({ order: "desc", order_by: "created_at", limit: 1 });
  assert.equal(page.data[0].id, made.id);
  await refused(stranger.evals.retrieve(made.id), OpenAI.NotFoundError, 404);
  const gone = await openai.evals.delete(made.id);
  assert.deepEqual(gone, { deleted: true, eval_id: made.id, object: "eval.deleted" });
  await refused(openai.evals.retrieve(made.id), OpenAI.NotFoundError, 404);
});

test("a run is created, read, listed, canceled and deleted", async () => {
  const made = await make();
  const run = await openai.evals.runs.create(made.id, { name: "first", data_source: source });
  assert.equal(run.object, "eval.run");
  assert.equal(run.eval_id, made.id);
  assert.equal(run.status, "queued");
  const where = { eval_id: made.id };
  assert.equal((await openai.evals.runs.retrieve(run.id, where)).id, run.id);
  const listed = await all(openai.evals.runs.list(made.id, { limit: 1 }));
  assert.deepEqual(listed.map((one) => one.id), [run.id]);
  assert.equal((await openai.evals.runs.cancel(run.id, where)).status, "canceled");
  const gone = await openai.evals.runs.delete(run.id, where);
  assert.equal(gone.deleted, true);
  await refused(openai.evals.runs.retrieve(run.id, where), OpenAI.NotFoundError, 404);
});

test("output items of a run are listed and read", async () => {
  const where = { eval_id: facts.eval_id };
  const items = await all(
    openai.evals.runs.outputItems.list(facts.run_id, { ...where, limit: 2, order: "asc" }),
  );
  assert.equal(items.length, 3);
  assert.deepEqual(items.map((one) => one.status), ["pass", "fail", "pass"]);
  const one = await openai.evals.runs.outputItems.retrieve(items[0].id, {
    ...where,
    run_id: facts.run_id,
  });
  assert.equal(one.object, "eval.run.output_item");
  assert.deepEqual(one.datasource_item, items[0].datasource_item);
});

test("every eval is met once across pages", async () => {
  const found = await all(openai.evals.list({ limit: 100, order: "asc" }));
  const copies = found.filter((one) => one.name === "copy");
  assert.equal(copies.length, facts.many);
  assert.equal(new Set(copies.map((one) => one.id)).size, facts.many);
});
