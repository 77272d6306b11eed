import assert from "node:assert/strict";
import test from "node:test";
import OpenAI, { toFile } from "openai";
import { all, facts, openai, refused, rows, stranger, upload } from "./client.mjs";

test("a file is created, read, listed, awaited and deleted", async () => {
  const made = await openai.files.create({
    file: await toFile(Buffer.from(rows()), "own.jsonl"),
    purpose: "fine-tune",
    expires_after: { anchor: "created_at", seconds: 3600 },
  });
  assert.match(made.id, /^file-/);
  assert.equal(made.object, "file");
  assert.equal(made.filename, "own.jsonl");
  assert.equal(made.bytes, Buffer.byteLength(rows()));
  assert.equal(made.expires_at, made.created_at + 3600);
  assert.deepEqual(await openai.files.retrieve(made.id), made);
  const page = await openai.files.list({ purpose: "fine-tune", limit: 1, order: "desc" });
  assert.equal(page.data[0].id, made.id);
  const content = await openai.files.content(made.id);
  assert.equal(await content.text(), rows());
  const ready = await openai.files.waitForProcessing(made.id, { pollInterval: 50, maxWait: 5000 });
  assert.equal(ready.status, "processed");
  assert.deepEqual(await openai.files.delete(made.id), { id: made.id, object: "file", deleted: true });
  await refused(openai.files.retrieve(made.id), OpenAI.NotFoundError, 404);
});

test("a foreign file is as one that never was", async () => {
  const made = await upload();
  await refused(stranger.files.retrieve(made.id), OpenAI.NotFoundError, 404);
  await refused(stranger.files.content(made.id), OpenAI.NotFoundError, 404);
  await refused(stranger.files.delete(made.id), OpenAI.NotFoundError, 404);
});

test("a file of another shape is refused with its line", async () => {
  const file = await toFile(Buffer.from("[1]\n"), "bad.jsonl");
  await assert.rejects(openai.files.create({ file, purpose: "fine-tune" }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.match(error.message, /[Ll]ine 1/);
    return true;
  });
});

test("every file is met once across pages", async () => {
  const found = await all(openai.files.list({ limit: 100, purpose: "evals" }));
  assert.equal(found.length, facts.many);
  assert.equal(new Set(found.map((one) => one.id)).size, facts.many);
});

test("an upload in parts becomes a file", async () => {
  const text = rows();
  const half = Math.floor(text.length / 2);
  const created = await openai.uploads.create({
    filename: "parts.jsonl",
    purpose: "fine-tune",
    bytes: text.length,
    mime_type: "text/jsonl",
  });
  assert.equal(created.object, "upload");
  assert.equal(created.status, "pending");
  const parts = [];
  for (const piece of [text.slice(0, half), text.slice(half)]) {
    const part = await openai.uploads.parts.create(created.id, {
      data: await toFile(Buffer.from(piece), "part"),
    });
    assert.equal(part.object, "upload.part");
    assert.equal(part.upload_id, created.id);
    parts.push(part.id);
  }
  const done = await openai.uploads.complete(created.id, { part_ids: parts });
  assert.equal(done.status, "completed");
  assert.equal(done.file.bytes, text.length);
  assert.equal(await (await openai.files.content(done.file.id)).text(), text);
});

test("an upload is cancelled, and takes no parts after that", async () => {
  const created = await openai.uploads.create({
    filename: "no.jsonl",
    purpose: "fine-tune",
    bytes: 10,
    mime_type: "text/jsonl",
  });
  assert.equal((await openai.uploads.cancel(created.id)).status, "cancelled");
  await refused(openai.uploads.complete(created.id, { part_ids: [] }), OpenAI.BadRequestError, 400);
  await refused(
    openai.uploads.parts.create(created.id, { data: await toFile(Buffer.from("x"), "part") }),
    OpenAI.BadRequestError,
    400,
  );
});

test("models are listed, read and deleted", async () => {
  const found = await all(openai.models.list());
  assert.ok(found.some((one) => one.id === facts.base_model));
  assert.ok(found.some((one) => one.id === facts.model));
  const model = await openai.models.retrieve(facts.model);
  assert.equal(model.object, "model");
  await refused(openai.models.retrieve("ft:no:such::one"), OpenAI.NotFoundError, 404);
  await refused(stranger.models.retrieve(facts.model), OpenAI.NotFoundError, 404);
  assert.deepEqual(await openai.models.delete(facts.spare_model), {
    id: facts.spare_model,
    object: "model",
    deleted: true,
  });
  await refused(openai.models.retrieve(facts.spare_model), OpenAI.NotFoundError, 404);
});
