import assert from "node:assert/strict";
import test from "node:test";
import OpenAI from "openai";
import { all, both, facts, makeJob, method, openai, refused, stranger } from "./client.mjs";

const jobs = openai.fineTuning.jobs;

test("a job is created with what the alpha's callers send", async () => {
  const job = await makeJob({ seed: 42, suffix: "finqa", metadata: { team: "node" } });
  assert.match(job.id, /^ftjob-/);
  assert.equal(job.object, "fine_tuning.job");
  assert.equal(job.model, facts.base_model);
  assert.equal(job.seed, 42);
  assert.equal(job.hyperparameters, null);
  assert.deepEqual(job.metadata, { team: "node" });
  assert.deepEqual(job.result_files, []);
  assert.equal(job.method.reinforcement.max_episode_steps, 10);
  assert.equal(job.method.reinforcement.response_format, null);
  assert.equal(job.method.reinforcement.tools[0].name, "search");
  assert.ok(!JSON.stringify(job.method).includes("Bearer k"));
  const again = await jobs.retrieve(job.id);
  assert.equal(again.id, job.id);
  await refused(stranger.fineTuning.jobs.retrieve(job.id), OpenAI.NotFoundError, 404);
});

test("optional fields may be null", async () => {
  const job = await makeJob({ suffix: null, seed: null, metadata: null, integrations: null });
  assert.equal(typeof job.seed, "number");
  assert.equal(job.metadata, null);
});

test("a job is paused, resumed and cancelled; a wrong state is 400", async () => {
  const job = await makeJob();
  assert.match((await jobs.pause(job.id)).status, /^paus/);
  assert.equal((await jobs.resume(job.id)).status, "queued");
  assert.equal((await jobs.cancel(job.id)).status, "cancelled");
  await refused(jobs.cancel(job.id), OpenAI.BadRequestError, 400);
  await refused(jobs.pause(job.id), OpenAI.BadRequestError, 400);
  await refused(jobs.resume(job.id), OpenAI.BadRequestError, 400);
});

test("jobs are found by metadata", async () => {
  const job = await makeJob({ metadata: { wanted: "this" } });
  const found = await all(jobs.list({ metadata: { wanted: "this" } }));
  assert.deepEqual(found.map((one) => one.id), [job.id]);
});

test("what cannot be a job is refused by name", async () => {
  await assert.rejects(makeJob({ model: "gpt-none" }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.type, "invalid_request_error");
    assert.ok(error.message.includes("gpt-none"));
    return true;
  });
  await refused(makeJob({ training_file: "file-none" }), OpenAI.BadRequestError, 400);
  const strange = { ...method, type: "guessing" };
  await refused(makeJob({ method: strange }), OpenAI.BadRequestError, 400);
});

test("every event and checkpoint is met once across pages", async () => {
  const events = await all(jobs.listEvents(facts.job_id, { limit: 100 }));
  const mine = events.filter((one) => one.message.startsWith("event "));
  assert.equal(mine.length, facts.many);
  assert.equal(new Set(events.map((one) => one.id)).size, events.length);
  assert.equal(mine[0].message, `event ${facts.many}`);
  const checkpoints = await all(jobs.checkpoints.list(facts.job_id, { limit: 50 }));
  assert.equal(checkpoints.length, facts.many);
  assert.equal(checkpoints[0].object, "fine_tuning.job.checkpoint");
  assert.equal(checkpoints[0].metrics.train_mean_reward, 0.5);
});

test("every job is met once across pages", async () => {
  const found = await all(jobs.list({ limit: 100, metadata: { copy: "yes" } }));
  assert.equal(found.length, facts.many);
  assert.equal(new Set(found.map((one) => one.id)).size, facts.many);
});

test("a checkpoint is shared with another project and taken back", async () => {
  const permissions = both.fineTuning.checkpoints.permissions;
  const made = await all(permissions.create(facts.model, { project_ids: [facts.sibling_project] }));
  assert.equal(made.length, 1);
  assert.equal(made[0].object, "checkpoint.permission");
  assert.equal(made[0].project_id, facts.sibling_project);
  const listed = await all(permissions.list(facts.model, { order: "ascending", limit: 1 }));
  assert.deepEqual(listed.map((one) => one.id), [made[0].id]);
  const read = await permissions.retrieve(facts.model, { project_id: facts.sibling_project });
  assert.equal(read.data[0].id, made[0].id);
  const gone = await permissions.delete(made[0].id, { fine_tuned_model_checkpoint: facts.model });
  assert.deepEqual(gone, { id: made[0].id, object: "checkpoint.permission", deleted: true });
  assert.deepEqual(await all(permissions.list(facts.model)), []);
});

test("graders are validated and run", async () => {
  const graders = openai.fineTuning.alpha.graders;
  const grader = {
    type: "string_check",
    name: "exact",
    operation: "eq",
    input: "{{ sample.output_text }}",
    reference: "{{ item.answer }}",
  };
  const valid = await graders.validate({ grader });
  assert.equal(valid.grader.type, "string_check");
  const right = await graders.run({ grader, model_sample: "4", item: { answer: "4" } });
  assert.equal(right.reward, 1);
  assert.equal(right.metadata.errors.other_error, false);
  const wrong = await graders.run({ grader, model_sample: "5", item: { answer: "4" } });
  assert.equal(wrong.reward, 0);
  const broken = { ...grader, input: "{{ nothing.here }}" };
  await refused(graders.validate({ grader: broken }), OpenAI.BadRequestError, 400);
});
