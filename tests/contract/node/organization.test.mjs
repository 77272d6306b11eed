import assert from "node:assert/strict";
import test from "node:test";
import OpenAI from "openai";
import { admin, all, facts, openai, refused } from "./client.mjs";

const { projects, adminAPIKeys } = admin.admin.organization;

test("a project is created, read, changed, listed and archived", async () => {
  const made = await projects.create({ name: "node" });
  assert.equal(made.object, "organization.project");
  assert.equal(made.status, "active");
  assert.equal((await projects.retrieve(made.id)).name, "node");
  assert.equal((await projects.update(made.id, { name: "other" })).name, "other");
  const listed = await all(projects.list({ limit: 1 }));
  assert.ok(listed.some((one) => one.id === made.id));
  assert.equal((await projects.archive(made.id)).status, "archived");
  const active = await all(projects.list({ limit: 100 }));
  assert.ok(!active.some((one) => one.id === made.id));
  const every = await all(projects.list({ limit: 100, include_archived: true }));
  assert.ok(every.some((one) => one.id === made.id));
});

test("a service account's key works until it is deleted", async () => {
  const project = await projects.create({ name: "accounts" });
  const where = { project_id: project.id };
  const account = await projects.serviceAccounts.create(project.id, { name: "robot" });
  assert.equal(account.object, "organization.project.service_account");
  const robot = new OpenAI({ baseURL: facts.base_url, apiKey: account.api_key.value, maxRetries: 0 });
  assert.deepEqual((await robot.files.list()).data, []);
  const read = await projects.serviceAccounts.retrieve(account.id, where);
  assert.equal(read.name, "robot");
  const listed = await all(projects.serviceAccounts.list(project.id));
  assert.deepEqual(listed.map((one) => one.id), [account.id]);
  const changed = await projects.serviceAccounts.update(account.id, { ...where, name: "android" });
  assert.equal(changed.name, "android");
  const [key] = await all(projects.apiKeys.list(project.id));
  assert.equal(key.object, "organization.project.api_key");
  assert.ok(!JSON.stringify(key).includes(account.api_key.value));
  assert.equal((await projects.apiKeys.retrieve(key.id, where)).id, key.id);
  const gone = await projects.serviceAccounts.delete(account.id, where);
  assert.equal(gone.deleted, true);
  await refused(robot.files.list(), OpenAI.AuthenticationError, 401);
});

test("a project's key is given an end and deleted", async () => {
  const where = { project_id: facts.sibling_project };
  const [key] = await all(projects.apiKeys.list(facts.sibling_project));
  const ending = await projects.apiKeys.update(key.id, { ...where, expires_in_seconds: 86400 });
  assert.ok(Math.abs(ending.expires_at - Date.now() / 1000 - 86400) < 60);
  const spare = new OpenAI({ baseURL: facts.base_url, apiKey: facts.sibling_key, maxRetries: 0 });
  await spare.files.list();
  assert.equal((await projects.apiKeys.delete(key.id, where)).deleted, true);
  await refused(spare.files.list(), OpenAI.AuthenticationError, 401);
});

test("admin keys are created, read, listed and deleted", async () => {
  const made = await adminAPIKeys.create({ name: "second" });
  assert.equal(made.object, "organization.admin_api_key");
  const second = new OpenAI({
    baseURL: facts.base_url,
    apiKey: null,
    adminAPIKey: made.value,
    maxRetries: 0,
  });
  assert.equal((await second.admin.organization.adminAPIKeys.retrieve(made.id)).name, "second");
  const listed = await all(adminAPIKeys.list({ limit: 1 }));
  assert.ok(listed.some((one) => one.id === made.id));
  assert.ok(!JSON.stringify(listed).includes(made.value));
  assert.equal((await adminAPIKeys.delete(made.id)).deleted, true);
  await refused(second.admin.organization.projects.list(), OpenAI.AuthenticationError, 401);
});

test("a project's key administers nothing", async () => {
  const wrong = new OpenAI({ baseURL: facts.base_url, apiKey: null, adminAPIKey: facts.key });
  await refused(wrong.admin.organization.projects.list(), OpenAI.PermissionDeniedError, 403);
  assert.ok((await openai.files.list()).data);
});
