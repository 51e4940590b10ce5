// The real server for workflow tests, without a key, and runs that are started through its API.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "./browser.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** A server for one test file, which can be killed and restarted at the same address. variables are added to its
 * environment: an object, or a function that returns one before the start. flags are added to its command line. */
export function serverFixture(variables = {}, flags = []) {
  const s = { url: "" };
  let home;
  let more;
  let at = "127.0.0.1:0"; // the system chooses the first port; restarts reuse it
  let server;
  s.start = async () => {
    server = spawn(join(root, "bin", "atelier"), ["serve", "--listen", at, "--json", ...flags], { env: { PATH: process.env.PATH, HOME: home, ATELIER_DATA: join(home, "data"), ...more }, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface(server.stdout)) {
      s.url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? "";
      if (s.url) break;
    }
    at = new URL(s.url).host;
    await until(() => fetch(`${s.url}/readyz`).then((r) => r.ok, () => false));
  };
  s.stop = async (signal) => {
    if (server?.exitCode !== null || server.signalCode !== null) return;
    server.kill(signal);
    await once(server, "exit");
  };
  s.get = async (path) => (await fetch(`${s.url}${path}`)).json();
  /** Starts a run and returns the address of its page once the run is paused. */
  s.startRun = async (what, state = {}) => {
    const body = typeof what === "string" ? { workflow_id: what, state } : { definition: what, state };
    const answer = await fetch(`${s.url}/api/workflow-runs`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    assert.equal(answer.status, 202, await answer.clone().text());
    const { id } = await answer.json();
    await until(async () => (await s.get(`/api/workflow-runs/${id}`)).status === "paused");
    return `${s.url}/workflows/runs/${id}`;
  };
  before(async () => {
    home = mkdtempSync(join(tmpdir(), "atelier-workflow-"));
    more = typeof variables === "function" ? await variables() : variables;
    await s.start();
  });
  after(async () => {
    await s.stop();
    rmSync(home, { recursive: true, force: true });
  });
  return s;
}

/** The example of the requirements as a workflow: its schema, data and defaults. */
export function example() {
  const read = (name) => JSON.parse(readFileSync(join(root, "workflow", "testdata", name), "utf8"));
  const { inputs } = read("module.json");
  const { display_data, display_schema } = read("interaction.json");
  return {
    id: "example", title: "The example", stand_in: "offline",
    steps: [{ id: "generate", module_id: "media.generation", config: { schema: display_schema }, inputs: { title: inputs.title, data: display_data.prompts, display_schema: "{{ step.schema }}", param_defaults: inputs.param_defaults } }],
  };
}

export const card = (page, name) => page.getByRole("article", { name, exact: true });
export const waitUntilSaved = (page) => page.locator("[data-save-status=saved]").waitFor();
export const waitForStatus = (page, word) => page.locator(".run-head").getByText(word, { exact: true }).waitFor();

/** A workflow whose interaction shows very many prompts and results. url returns the address of a result. */
export function largeWorkflow(prompts, results, url = (key, i) => `/media/none-${key}-${i}`) {
  const keys = Array.from({ length: prompts }, (_, i) => `prompt_${i}`);
  const grid = { type: "array", _ux: { render_as: "media-grid", selectable: true }, items: { type: "object", properties: { url: { type: "string", _ux: { render_as: "image" } } } } };
  const card = { type: "object", _ux: { render_as: "card", layout: { rows: [["subject", "mood"]] } } };
  const schema = { type: "object", properties: { data: { type: "object", properties: {
    prompts: { type: "object", _ux: { render_as: "card-stack", display_label: "Prompts" }, additionalProperties: card },
    generations: { type: "object", _ux: { display: "passthrough" }, additionalProperties: grid },
  } } } };
  const data = {
    prompts: Object.fromEntries(keys.map((k) => [k, { subject: `A lighthouse, ${k}`, mood: "calm" }])),
    generations: Object.fromEntries(keys.map((k) => [k, Array.from({ length: results / prompts }, (_, i) => ({ content_id: `gc_${k}_${i}`, url: url(k, i) }))])),
  };
  return { id: "many", title: "Many", steps: [{ id: "look", module_id: "review.approve", config: { schema }, inputs: { title: "Very many", data, display_schema: "{{ step.schema }}" } }] };
}
