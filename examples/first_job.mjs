// A first job with the unmodified `openai` client for Node: upload, train, follow, talk.
//
// Needs `npm install openai`, OPENAI_BASE_URL and OPENAI_API_KEY (as `agent-rft up` prints them),
// and two files of rows, as `python -m examples.records_agent.dataset --out DIR` writes them:
//
//   node first_job.mjs http://127.0.0.1:8900 DIR/train.jsonl DIR/valid.jsonl
import { createReadStream, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import OpenAI from "openai";

const [endpoint, trainPath, validPath, baseModel = "tiny-agent"] = process.argv.slice(2);
const client = new OpenAI();
const FINAL = new Set(["succeeded", "failed", "cancelled"]);
const MAX_TURNS = 8;

async function upload(path) {
  return (await client.files.create({ file: createReadStream(path), purpose: "fine-tune" })).id;
}

async function create() {
  return await client.fineTuning.jobs.create({
    model: baseModel,
    training_file: await upload(trainPath),
    validation_file: await upload(validPath),
    seed: 42,
    method: {
      type: "reinforcement",
      reinforcement: {
        tools: [
          { name: "lookup", server_url: `${endpoint}/tools` },
          { name: "calculator", server_url: `${endpoint}/tools` },
        ],
        grader: { type: "endpoint", name: "records", url: `${endpoint}/grade` },
        max_episode_steps: 12,
        hyperparameters: { n_epochs: 1, batch_size: 8, eval_samples: 1 },
      },
    },
  });
}

async function follow(jobId) {
  const seen = new Set();
  for (;;) {
    // The state is read first: what happens after that is in the list already.
    const job = await client.fineTuning.jobs.retrieve(jobId);
    const fresh = [];
    for await (const event of client.fineTuning.jobs.listEvents(jobId, { limit: 100 })) {
      if (seen.has(event.id)) break;
      fresh.push(event);
    }
    for (const event of fresh.reverse()) {
      seen.add(event.id);
      console.log(`  ${event.message}`);
    }
    if (FINAL.has(job.status)) return job;
    await pause(500);
  }
}

async function runTool(call) {
  const reply = await fetch(`${endpoint}/tools`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      type: "function_call",
      id: `fc_${call.id}`,
      call_id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
      trace_id: "trace_talk",
      item: {},
    }),
  });
  return (await reply.json()).output;
}

async function chatWithTools(model, row) {
  const messages = [...row.messages];
  console.log(`  user       ${messages.at(-1).content}`);
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const reply = await client.chat.completions.create({
      model,
      messages,
      tools: row.tools,
      temperature: 0,
    });
    const message = reply.choices[0].message;
    messages.push(message);
    const broken = message.tool_call_error;
    if (broken) {
      // A call that cannot be parsed: the model reads why and continues.
      console.log(`  tool       ${broken.message}`);
      messages.push({ role: "tool", tool_call_id: broken.tool_call_id, content: broken.message });
      continue;
    }
    if (!message.tool_calls?.length) {
      console.log(`  assistant  ${message.content}`);
      return;
    }
    for (const call of message.tool_calls) {
      const output = await runTool(call);
      console.log(`  tool       ${call.function.name}(${call.function.arguments}) = ${output}`);
      messages.push({ role: "tool", tool_call_id: call.id, content: output });
    }
  }
}

const created = await create();
console.log(`created ${created.id}`);
const job = await follow(created.id);
if (job.status !== "succeeded") {
  console.error(`job ${job.status}:`, job.error);
  process.exit(1);
}
console.log("checkpoints:");
for await (const checkpoint of client.fineTuning.jobs.checkpoints.list(job.id)) {
  console.log(`  ${checkpoint.fine_tuned_model_checkpoint}`);
}
console.log(`A held-out question, asked of ${job.fine_tuned_model}:`);
await chatWithTools(job.fine_tuned_model, JSON.parse(readFileSync(validPath, "utf8").split("\n")[0]));
