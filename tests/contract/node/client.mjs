// The unmodified client against the service whose facts the suite's starter put into the environment.
import assert from "node:assert/strict";
import OpenAI from "openai";

export const facts = JSON.parse(process.env.CONTRACT);
export const openai = new OpenAI({ baseURL: facts.base_url, apiKey: facts.key });
export const stranger = new OpenAI({ baseURL: facts.base_url, apiKey: facts.other_key });
export const admin = new OpenAI({ baseURL: facts.base_url, apiKey: null, adminAPIKey: facts.admin_key });
// Sharing a checkpoint is an administrator's call, for which the client takes the admin key.
export const both = new OpenAI({
  baseURL: facts.base_url,
  apiKey: facts.key,
  adminAPIKey: facts.admin_key,
});
export const behindFaults = new OpenAI({ baseURL: `${facts.proxy_url}/v1`, apiKey: facts.key });

export const method = {
  type: "reinforcement",
  reinforcement: {
    tools: [
      {
        name: "search",
        server_url: `${facts.endpoint}/search`,
        headers: { Authorization: "Bearer k" },
      },
    ],
    grader: { type: "endpoint", name: "g", url: `${facts.endpoint}/grade`, headers: {}, rate_limit: 50 },
    response_format: null,
    max_episode_steps: 10,
    hyperparameters: { n_epochs: 1, batch_size: 16, reasoning_effort: "medium" },
  },
};

export function rows(count = 12) {
  return '{"messages": [{"role": "user", "content": "hi"}]}\n'.repeat(count);
}

export async function upload(count = 12) {
  const file = new File([rows(count)], "rows.jsonl");
  return await openai.files.create({ file, purpose: "fine-tune" });
}

export async function makeJob(changes = {}) {
  const file = await upload();
  return await openai.fineTuning.jobs.create({
    model: "tiny-agent",
    training_file: file.id,
    validation_file: file.id,
    method,
    ...changes,
  });
}

export async function all(pages) {
  const found = [];
  for await (const one of pages) found.push(one);
  return found;
}

export async function inject(...faults) {
  const reply = await fetch(`${facts.proxy_url}/_faults`, {
    method: "POST",
    body: JSON.stringify(faults),
    headers: { "content-type": "application/json" },
  });
  assert.equal(reply.status, 200);
}

export async function seen() {
  return await (await fetch(`${facts.proxy_url}/_seen`)).json();
}

export async function refused(promise, kind, status) {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof kind, `${error.constructor.name}: ${error.message}`);
    assert.equal(error.status, status);
    assert.match(error.requestID, /^req_/);
    return true;
  });
}
