// Agents in workflows: one step drafts prompts that a person edits, another step asks a person a question.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { browser, check } from "./browser.js";
import { scriptedModel } from "./scripted-model.js";
import { card, serverFixture, waitForStatus } from "./server-fixture.js";

const lines = {
  sage: [
    { reasoning: "draft", done: true, message: "Drafted.", payload: { prompts: { offline: { dawn: { subject: "A lighthouse at dawn", mood: "calm" }, dusk: "A lighthouse at dusk" } } } },
    { reasoning: "ask", ask: { question: "Who is it for?", schema: { type: "object", required: ["reader"], properties: { reader: { type: "string", title: "Reader" } } } } },
    { reasoning: "end", done: true, message: "Written for sailors." },
  ],
};
let model;
after(() => model?.stop());

const b = browser();
const s = serverFixture(async () => {
  model = await scriptedModel(lines);
  return { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${model.url}/v1`, ATELIER_CHAT_MODEL: "openai/gpt-4o", ATELIER_IMAGE_MODEL: "offline" };
});

const flow = {
  id: "drafted", title: "Drafted", stand_in: "offline",
  steps: [
    { id: "draft", module_id: "prompt.draft", inputs: { brief: "Lighthouses", agent: "sage", providers: { offline: ["dawn", "dusk"] } } },
    { id: "pick", module_id: "media.generation", inputs: { title: "Pick a lighthouse", data: "{{ state.prompts }}" } },
    { id: "words", title: "Words", module_id: "agent.run", inputs: { agent: "sage", message: "Write a line for the picture" }, output: { message: "line" } },
  ],
};

test("prompts that an agent wrote are edited and generated, and a question of an agent is answered on the page", async () => b.page(await s.startRun(flow), {}, async (page) => {
  await card(page, "dawn").getByRole("textbox", { name: "Subject" }).fill("A lighthouse at noon");
  await card(page, "dawn").locator(".wf-prompt").getByText(/A lighthouse at noon/).waitFor();
  await card(page, "dusk").getByRole("button", { name: "Generate" }).click();
  await card(page, "dusk").getByRole("button", { name: /^Choose / }).first().click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Who is it for?").waitFor();
  await check(page, "workflow question of an agent");
  await page.getByRole("textbox", { name: "Reader" }).fill("Sailors");
  await page.getByRole("button", { name: "Answer" }).click();
  await waitForStatus(page, "Done");
  const run = await s.get(`/api/workflow-runs/${page.url().split("/").pop().split("?")[0]}`);
  assert.equal(run.state.line, "Written for sailors.");
  assert.equal(run.state.prompts.offline.dawn.subject, "A lighthouse at dawn");
}));
