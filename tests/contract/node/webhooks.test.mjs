import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import test from "node:test";
import OpenAI from "openai";
import { all, facts, openai, refused, stranger } from "./client.mjs";

function signed(body, secret, { age = 0 } = {}) {
  const id = "evt_1";
  const timestamp = String(Math.floor(Date.now() / 1000) - age);
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${mac}`,
  };
}

async function receiver() {
  const taken = [];
  const server = createServer((request, reply) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      taken.push({ body, headers: request.headers });
      reply.end();
    });
  });
  await new Promise((done) => server.listen(facts.hook_port, "127.0.0.1", done));
  return { taken, url: `http://127.0.0.1:${facts.hook_port}/hook`, server };
}

test("what we sign as the service does is unwrapped, and nothing else", async () => {
  const secret = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;
  const event = { id: "evt_1", object: "event", created_at: 1, type: "fine_tuning.job.succeeded" };
  const body = JSON.stringify({ ...event, data: { id: "ftjob-1" } });
  const read = await openai.webhooks.unwrap(body, signed(body, secret), secret);
  assert.equal(read.data.id, "ftjob-1");
  await openai.webhooks.verifySignature(body, signed(body, secret), secret);
  const { InvalidWebhookSignatureError } = OpenAI;
  await assert.rejects(
    openai.webhooks.unwrap(`${body} `, signed(body, secret), secret),
    InvalidWebhookSignatureError,
  );
  await assert.rejects(
    openai.webhooks.unwrap(body, signed(body, secret, { age: 600 }), secret),
    InvalidWebhookSignatureError,
  );
});

test("event types are listed", async () => {
  const found = await openai.webhooks.eventTypes.list();
  assert.ok(found.data.includes("fine_tuning.job.succeeded"));
  assert.ok(found.data.includes("eval.run.canceled"));
});

test("an endpoint is created, read, changed, listed, tested, rotated and deleted", async () => {
  const { taken, url, server } = await receiver();
  try {
    const made = await openai.webhooks.create({
      name: "mine",
      url,
      event_types: ["fine_tuning.job.succeeded"],
    });
    assert.match(made.signing_secret, /^whsec_/);
    const read = await openai.webhooks.retrieve(made.id);
    assert.equal(read.url, url);
    assert.equal(read.signing_secret, undefined);
    assert.equal((await openai.webhooks.update(made.id, { name: "other" })).name, "other");
    const listed = await all(openai.webhooks.list());
    assert.ok(listed.some((one) => one.id === made.id));
    await refused(stranger.webhooks.retrieve(made.id), OpenAI.NotFoundError, 404);
    const result = await openai.webhooks.test(made.id, { event_type: "fine_tuning.job.succeeded" });
    assert.equal(result.success, true);
    assert.equal(result.status_code, 200);
    const [{ body, headers }] = taken;
    const event = await openai.webhooks.unwrap(body, headers, made.signing_secret);
    assert.equal(event.type, "fine_tuning.job.succeeded");
    const rotated = await openai.webhooks.rotateSecret(made.id, {
      keep_old_secret_active_for_24_hours: true,
    });
    assert.notEqual(rotated.signing_secret, made.signing_secret);
    await openai.webhooks.test(made.id, { event_type: "fine_tuning.job.succeeded" });
    for (const secret of [made.signing_secret, rotated.signing_secret]) {
      await openai.webhooks.unwrap(taken[1].body, taken[1].headers, secret);
    }
    assert.equal((await openai.webhooks.delete(made.id)).deleted, true);
    await refused(openai.webhooks.retrieve(made.id), OpenAI.NotFoundError, 404);
  } finally {
    server.close();
  }
});
