import assert from "node:assert/strict";
import test from "node:test";
import OpenAI from "openai";
import { behindFaults, facts, inject, openai, refused, seen } from "./client.mjs";

for (const faults of [["429"], ["500"], ["reset"], ["429", "500"], ["reset", "503"]]) {
  test(`a call succeeds after ${faults.join(" and ")}`, async () => {
    await inject(...faults);
    const page = await behindFaults.files.list({ limit: 1 });
    assert.ok(Array.isArray(page.data));
    const calls = await seen();
    assert.equal(calls.length, faults.length + 1);
    assert.equal(calls.at(-1).headers["x-stainless-retry-count"], String(faults.length));
  });
}

test("retries end", async () => {
  await inject("500", "500", "500");
  await assert.rejects(behindFaults.files.list(), OpenAI.InternalServerError);
  await inject("429", "429", "429");
  await assert.rejects(behindFaults.files.list(), OpenAI.RateLimitError);
  await inject("reset", "reset", "reset");
  await assert.rejects(behindFaults.files.list(), OpenAI.APIConnectionError);
});

test("an idempotency key makes one object of two attempts", async () => {
  await inject("lost");
  const key = `node-${Date.now()}`;
  const made = await behindFaults.evals.create(
    {
      name: key,
      data_source_config: { type: "custom", item_schema: { type: "object" } },
      testing_criteria: [
        { type: "string_check", name: "x", operation: "eq", input: "a", reference: "a" },
      ],
    },
    { headers: { "Idempotency-Key": key } },
  );
  assert.equal((await seen()).length, 2);
  const found = [];
  for await (const one of openai.evals.list({ order: "desc" })) {
    if (one.name === key) found.push(one.id);
    if (one.name === "copy") break;
  }
  assert.deepEqual(found, [made.id]);
});

test("errors have classes by status, and a request id", async () => {
  const nobody = new OpenAI({ baseURL: facts.base_url, apiKey: "sk-wrong" });
  await refused(nobody.files.list(), OpenAI.AuthenticationError, 401);
  await refused(openai.files.retrieve("file-none"), OpenAI.NotFoundError, 404);
  await refused(openai.files.list({ limit: 0 }), OpenAI.BadRequestError, 400);
  const { data, response, request_id } = await openai.files.list({ limit: 1 }).withResponse();
  assert.ok(Array.isArray(data.data));
  assert.equal(response.headers.get("x-request-id"), request_id);
  assert.match(request_id, /^req_/);
});

test("a chat is answered, whole and in pieces", async () => {
  const ask = { model: "tiny-agent", messages: [{ role: "user", content: "hi" }] };
  const whole = await openai.chat.completions.create(ask);
  assert.equal(whole.choices[0].message.content, "hello");
  const stream = await openai.chat.completions.create({ ...ask, stream: true });
  let text = "";
  for await (const piece of stream) text += piece.choices[0]?.delta?.content ?? "";
  assert.equal(text, "hello");
});
