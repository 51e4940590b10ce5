// A server of fixtures for the pages: the shapes of the API with made-up runs, so that every state
// can be viewed without a model. `node test/server.mjs [PORT [PACE]]` serves dist with it.
import { readFileSync, existsSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { png } from "./png.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "..", "dist");
const recorded = readFileSync(join(here, "recorded", "research.jsonl"), "utf8").trim().split("\n").map((l) => JSON.parse(l));
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2" };
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

let sequence = 0;
let count = 0;
const media = new Map();
const runs = new Map();
const conversations = new Map();
const generations = new Map();
const deleted = new Set();
const streams = new Set();
const newID = (kind) => `${kind}-${String(++count).padStart(4, "0")}`;
const free = { estimated_usd: "0", reported_usd: "0", complete: true };
const some = { estimated_usd: "0.042", reported_usd: "0.039", complete: true };

function picture(label, width = 1024, height = 1024, more = {}) {
  const id = newID("med");
  const m = {
    id, ref: `img-${id.slice(4)}`, modality: "image", mime_type: "image/png", width, height, size_bytes: 812_345, digest: "sha256-0", label,
    description: "drawn by rule, not by an AI model", created_at: new Date().toISOString(), url: `/media/${id}`, cost: some, prompt: `${label}, oil on canvas, soft light`, model: "Atelier Offline", ...more,
  };
  media.set(id, m);
  return m;
}

function emit(run, name, data, kept = true) {
  const e = { name, data: { run_id: run.id, tree: run.id, conversation_id: run.conversation_id, at: new Date().toISOString(), ...data } };
  if (kept) {
    e.id = ++sequence;
    run.events.push(e);
  }
  for (const s of streams) if (!s.run || s.run === run.id) write(s.response, e);
}

function write(response, e) {
  response.write(`${e.id ? `id: ${e.id}\n` : ""}event: ${e.name}\ndata: ${JSON.stringify(e.data)}\n\n`);
}

function begin(agent, message, conversation, attachments = []) {
  const run = { id: newID("run"), agent, status: "running", message, conversation_id: conversation, started_at: new Date().toISOString(), cost: free, tokens: { input_tokens: 0, output_tokens: 0 }, warnings: [], report: false, media: [], events: [] };
  runs.set(run.id, run);
  const c = conversations.get(conversation);
  c.updated_at = run.started_at;
  c.messages.push({ id: newID("msg"), role: "user", text: message, run_id: run.id, created_at: run.started_at, attachments });
  emit(run, "run-started", { agent, name: agent === "sage" ? "Sage" : "Research Agent", task: message });
  return run;
}

function end(run, status, text, more = {}) {
  if (run.status !== "running") return;
  Object.assign(run, { status, answer: text, ended_at: new Date().toISOString(), cost: some, tokens: { input_tokens: 6771, output_tokens: 398 }, ...more });
  conversations.get(run.conversation_id).messages.push({ id: newID("msg"), role: "assistant", text, run_id: run.id, agent: run.agent, created_at: run.ended_at, attachments: run.media, status, report: run.report });
  emit(run, `run-${status}`, { status, message: text, cost: some, usage: run.tokens, ...(more.error && { error: more.error }) });
}

/** Pictures wait here while the gate is held. */
const gate = { wait: Promise.resolve(), hold() { this.wait = new Promise((go) => { this.release = go; }); }, release() {} };

async function draw(run, pace) {
  const step = newID("step");
  emit(run, "turn-started", { turn: 1, model: "offline" });
  await wait(pace);
  emit(run, "turn-finished", { turn: 1, model: "offline", reasoning: "A picture is asked for.", actions: ["Generate Image"], input_tokens: 3297, output_tokens: 38 });
  emit(run, "action-started", { step_id: step, name: "Generate Image", turn: 1 });
  const made = picture(run.message.slice(0, 60));
  for (const note of ["Waiting for the model", "30 % rendered", "70 % rendered"]) {
    await wait(pace);
    if (run.status !== "running") return;
    emit(run, "operation-progress", { step_id: step, operation: "op", note }, false);
    emit(run, "operation-partial", { step_id: step, output: made }, false);
  }
  await gate.wait;
  if (run.status !== "running") return;
  run.media.push(made);
  emit(run, "media-stored", { output: made });
  emit(run, "action-finished", { step_id: step, name: "Generate Image", turn: 1, success: true, code: "SUCCESS", message: "Generated 1 image", refs: [made.ref] });
  await say(run, `Here is the picture. It follows your words: **${run.message.split(" ").slice(0, 4).join(", ")}**.\n\n\${media:${made.ref}}\n\nTell me what to change.`, pace);
}

/** Generates a picture outside a run, for vary and again. */
async function generate(g, asked, pace) {
  const tell = (name, data) => { for (const s of streams) if (!s.run) write(s.response, { name, data: { run_id: "", tree: g.id, operation: g.id, at: new Date().toISOString(), ...data } }); };
  const m = picture(asked.prompt || "a variation", 1024, 1024, { model: g.model });
  for (const progress of [0.2, 0.6, 0.9]) {
    await wait(pace);
    if (g.status !== "running") return;
    tell("operation-progress", { progress });
  }
  await gate.wait;
  Object.assign(g, { status: "succeeded", finished_at: new Date().toISOString(), slots: [{ index: 1, status: "succeeded", media: m }] });
  tell("operation-finished", { status: "succeeded" });
}

async function say(run, text, pace) {
  for (let n = 12; n < text.length && run.status === "running"; n += 12) {
    emit(run, "message-delta", { text: text.slice(0, n) }, false);
    await wait(pace / 10);
  }
  end(run, "succeeded", text);
}

async function work(run, pace) {
  await wait(pace);
  if (/fail/i.test(run.message)) return end(run, "failed", "", { error: { code: "unavailable", message: "Gemini answered 503 three times.", hint: "Try again in a minute, or choose another model." } });
  if (/approve/i.test(run.message)) return pause(run, { id: "q1", kind: "approval", question: "May I generate four pictures?", schema: {}, details: { action: "Generate Image", params: { prompt: "a lighthouse", n: 4 }, estimated_usd: "0.16", reason: "It costs more than 0.10." } });
  if (/ask/i.test(run.message)) {
    return pause(run, {
      id: "q1", kind: "question", question: "Which **style** shall the picture have, and how many do you want?",
      schema: { type: "object", required: ["style", "count"], properties: { style: { type: "string", title: "Style", enum: ["Watercolor", "Oil", "Ink"] }, count: { type: "integer", title: "How many", default: 1 }, signed: { type: "boolean", title: "With a signature" }, note: { type: "string", description: "Anything else that matters" } } },
    });
  }
  return draw(run, pace);
}

function pause(run, question) {
  Object.assign(run, { status: "paused", question });
  emit(run, "run-paused", { status: "paused", questions: [question] });
}

function research(conversation) {
  const run = begin("research-agent", recorded[0].data.task, conversation);
  run.events = [];
  run.report = true;
  for (const e of recorded) {
    const data = JSON.parse(JSON.stringify(e.data).replaceAll("id-001", run.id));
    if (data.output) {
      data.output = picture(data.output.label, data.output.width, data.output.height, { ref: data.output.ref, mime_type: "image/png" });
      if (e.name === "media-promoted") run.media.push(data.output);
    }
    run.events.push({ id: ++sequence, name: e.name, data: { ...data, conversation_id: conversation } });
  }
  const last = recorded.at(-1).data;
  run.started_at = recorded[0].data.at;
  end(run, "succeeded", last.message, { warnings: ["Atelier Offline was used because no provider is ready; atelier doctor tells which key to set"] });
  run.ended_at = last.at;
}

function talk(title, ago = 0) {
  const id = newID("con");
  conversations.set(id, { id, title, updated_at: new Date(Date.now() - ago).toISOString(), messages: [] });
  return id;
}

function stage() {
  const reports = talk("How electricity generation changed", 3_600_000);
  research(reports);
  const lights = talk("A lighthouse in a storm");
  const one = begin("sage", "Draw a lighthouse in a storm", lights);
  const p = picture("a lighthouse in a storm", 1536, 1024);
  one.media.push(p);
  end(one, "succeeded", `Here is the picture.\n\n\${media:${p.ref}}`);
  const two = begin("sage", "Now four of them: spring, summer, autumn and winter. And what did each cost?", lights, [p]);
  const four = ["spring", "summer", "autumn", "winter"].map((s) => picture(`a lighthouse in ${s}`, 1024, 1024, { model: "Nano Banana Pro" }));
  two.media.push(...four);
  end(two, "succeeded", `Four seasons, as you asked:\n\n${four.map((m) => `\${media:${m.ref}}`).join(" ")}\n\n| Season | Cost | Time |\n|---|---|---|\n| Spring | $0.039 | 8 s |\n| Summer | $0.039 | 7 s |\n\n1. The light differs most.\n2. The sea is \`calm\` in summer.\n\n> All from one seed.\n\n<script>window.xss = 1</script><img src=x onerror="window.xss=1">[a link](javascript:window.xss=1)`);
  const bad = talk("Things that did not work", 90_000_000);
  end(begin("sage", "Please fail", bad), "failed", "", { error: { code: "unavailable", message: "Gemini answered 503 three times.", hint: "Try again in a minute, or choose another model." } });
  end(begin("sage", "Draw a very long panorama", bad), "cancelled", "I began to draw.");
  pause(begin("sage", "Ask me about the style", talk("A question is open", 200_000_000)), { id: "q0", kind: "question", question: "Which **style** shall the picture have?", schema: { type: "object", required: ["style"], properties: { style: { type: "string", title: "Style", enum: ["Watercolor", "Oil", "Ink"] }, note: { type: "string", title: "Anything else" } } } });
  pause(begin("sage", "Make four pictures and approve", talk("An approval is open", 300_000_000)), { id: "q1", kind: "approval", question: "May I generate four pictures?", details: { action: "Generate Image", params: { prompt: "a lighthouse", n: 4 }, estimated_usd: "0.16", reason: "It costs more than $0.10." } });
  talk("A name that is so long that it does not fit into the list of conversations at the side of the page", 900_000_000);
}

const summary = (c) => ({ id: c.id, title: c.title, updated_at: c.updated_at, run_count: c.messages.length, cost: some });
const record = ({ events, ...r }) => r;
const report = (run) => `<!doctype html><meta charset="utf-8"><title>Report</title><style>body{font:16px/1.6 Georgia,serif;max-width:700px;margin:32px auto;padding:0 16px}img{max-width:100%}</style><h1>${run.message}</h1><p>${run.answer}</p>${run.media.map((m) => `<figure><img src="/media/${m.id}" alt="${m.label}" title="${m.label}"><figcaption>${m.label}</figcaption></figure>`).join("")}<p><a href="https://example.org/x" rel="noreferrer noopener" target="_blank">source</a></p><script>parent.xss = 1</script>`;

/** The operations: maps method and path to a function that returns [status, body]. */
function routes(pace) {
  const found = (m, id) => (m.has(id) && !deleted.has(id) ? m.get(id) : undefined);
  const missing = [404, { status: 404, code: "not_found", title: "Not found", detail: "There is no such thing.", hint: "", retryable: false }];
  return {
    "GET /api/health": () => [200, { status: "ok", version: "test", offline: true, notes: ["No API key is set: rule-based offline models are used, at no cost. Set OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY for real ones.", "Web search needs SEARXNG_URL, BRAVE_SEARCH_API_KEY or TAVILY_API_KEY."] }],
    "GET /api/agents": () => [200, { items: [{ name: "research-agent", description: "Answers a question with an illustrated, sourced report." }, { name: "sage", description: "Talks with a person, answers questions, and makes, edits and varies pictures on request." }] }],
    "GET /api/chat-models": () => [200, { items: [{ id: "offline", provider: "offline", default: true, ready: true }, { id: "Llama 4 Maverick", provider: "OpenRouter", default: false, ready: false, vision: true, reason: "OpenRouter requires a key: set OPENROUTER_API_KEY" }] }],
    "GET /api/models": () => [200, { items: [{ id: "offline", provider: "offline", modality: "image", default: true, ready: true }, { id: "Nano Banana Pro", provider: "Gemini", modality: "image", default: false, ready: false, reason: "no key for Gemini: set GEMINI_API_KEY" }] }],
    "GET /api/conversations": (_, q) => [200, { items: [...conversations.values()].filter((c) => !deleted.has(c.id) && c.title.toLowerCase().includes((q.get("q") ?? "").toLowerCase())).sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).map(summary), next: "" }],
    "GET /api/conversations/:id": (id) => { const c = found(conversations, id); return c ? [200, { ...summary(c), messages: c.messages }] : missing; },
    "PATCH /api/conversations/:id": (id, _, body) => { conversations.get(id).title = body.title; return [200, {}]; },
    "DELETE /api/conversations/:id": (id) => { deleted.add(id); return [200, { undo_until: "" }]; },
    "POST /api/conversations/:id/restore": (id) => { deleted.delete(id); return [200, {}]; },
    "GET /api/runs": (_, q) => [200, { items: [...runs.values()].filter((r) => r.status === q.get("status")).map(record), next: "" }],
    "GET /api/runs/:id": (id) => (runs.has(id) ? [200, record(runs.get(id))] : missing),
    "POST /api/runs": (_, __, body) => {
      if (/refuse/i.test(body.message)) return [402, { status: 402, code: "over_budget", title: "Over budget", detail: "The budget of the day is used up.", hint: "Raise ATELIER_BUDGET_DAY_USD or wait for tomorrow.", retryable: false }];
      const conversation = body.conversation_id === "new" ? talk(body.message.slice(0, 60) || "Pictures") : body.conversation_id;
      const run = begin(body.agent, body.message, conversation, [...body.images, ...body.files].map((x) => media.get(x.media_id)));
      void work(run, pace);
      return [202, { id: run.id, status: "running", conversation_id: conversation }];
    },
    "POST /api/runs/:id/cancel": (id) => { end(runs.get(id), "cancelled", "", {}); return [202, {}]; },
    "POST /api/runs/:id/retry": (id) => { const run = begin("sage", "Draw it again", runs.get(id).conversation_id); void work(run, pace); return [202, { id: run.id, status: "running" }]; },
    "POST /api/runs/:id/answer": (id, _, body) => {
      const run = runs.get(id);
      run.status = "running";
      run.answered = body;
      delete run.question;
      emit(run, "run-resumed", { agent: run.agent, name: "Sage", task: run.message });
      void draw(run, pace);
      return [202, {}];
    },
    "POST /api/conversations/:id/fork": (id, _, body) => {
      const from = conversations.get(id);
      const at = from.messages.findIndex((m) => m.id === body.after);
      if (at < 0) return missing;
      const fork = talk(from.title);
      conversations.get(fork).messages.push(...from.messages.slice(0, at + 1).map((m) => ({ ...m, id: newID("msg") })));
      return [201, summary(conversations.get(fork))];
    },
    "POST /api/generations/plan": (_, __, body) => (/refuse/i.test(body.prompt)
      ? [422, { status: 422, code: "unsupported", title: "Unprocessable", detail: "Nano Banana Pro makes no variations.", hint: "Choose another model.", retryable: false }]
      : [200, { model: body.model ?? "Atelier Offline", provider: "offline", calls: 1, makes: 1, settings: [], estimated_usd: "0.039", warnings: [] }]),
    "POST /api/generations": (_, __, body) => {
      const g = { id: newID("gen"), status: "running", method: body.method ?? "generate", prompt: body.prompt, model: body.model ?? "Atelier Offline", asked: body, slots: [], settings: [], cost: some, warnings: [], created_at: new Date().toISOString() };
      generations.set(g.id, g);
      void generate(g, body, pace);
      return [202, g];
    },
    "GET /api/generations/:id": (id) => (generations.has(id) ? [200, generations.get(id)] : missing),
    "POST /api/generations/:id/cancel": (id) => { const g = generations.get(id); Object.assign(g, { status: "cancelled", finished_at: new Date().toISOString() }); return [202, g]; },
    "GET /api/media": (_, q) => {
      const fits = [...media.values()].reverse().filter((m) => (!q.get("modality") || m.modality === q.get("modality")) && (m.label ?? "").toLowerCase().includes((q.get("q") ?? "").toLowerCase()) && !deleted.has(m.id));
      const from = Number(q.get("after") || 0);
      const limit = Number(q.get("limit") || 50);
      return [200, { items: fits.slice(from, from + limit), next: fits.length > from + limit ? String(from + limit) : "" }];
    },
    "GET /api/runs/:id/sight": (id) => [200, { agent: runs.get(id).agent, lenient_images: true, vision: { max_images: 4, max_total_bytes: 8388608, turns_to_live: 1, allowed_sources: ["Generate Image"] }, given: [{ ref: "img-given", mime_type: "image/png", file_name: "harbour.png", detail: "low" }], shown: [], settings: [{ setting: "image_model", asked: "Nano Banana Pro", applied: "Atelier Offline", outcome: "substituted", reason: "no key for Gemini" }] }],
    "GET /api/runs/:id/model-calls": (id) => [200, { items: [{ id: "call-1", turn: 1, model: "offline", provider: "offline", status: "succeeded", messages: { system: "You are Sage. You make pictures on request.", messages: [{ role: "user", content: [{ type: "text", text: runs.get(id).message }, { type: "image", ref: "img-given" }] }] }, answer: '{"reasoning":"A picture is asked for.","actions":[{"name":"Generate Image"}]}', input_tokens: 3297, output_tokens: 38, cost_usd: "0.0021", started_at: runs.get(id).started_at, finished_at: runs.get(id).started_at }], next: "" }],
    "GET /api/runs/:id/acts": (id) => [200, { items: [{ id: "act-1", turn: 1, position: 1, kind: "action", name: "Generate Image", status: "succeeded", code: "SUCCESS", message: "Generated 1 image", params: { Prompt: runs.get(id).message, Size: "1024x1024" }, outputs: { Image: { refId: "img-0001" } }, started_at: runs.get(id).started_at }], next: "" }],
    "GET /api/media/:id": (id) => { const m = media.get(id); return m ? [200, { ...m, origin: { prompt_sent: m.prompt, request: { prompt: m.prompt, model: m.model, seed: 42, size: "1000x1000" }, model: m.model, cost: some, settings: [{ setting: "size", asked: "1000x1000", applied: "1024x1024", outcome: "adapted", reason: "The model makes multiples of 64." }, { setting: "seed", applied: 42, outcome: "applied" }] }, parents: [...media.values()].slice(0, 1).filter((x) => x.id !== id), children: [], sub_actions: [] }] : missing; },
  };
}

function upload(body, boundary) {
  const text = body.toString("latin1");
  const name = Buffer.from(/filename="([^"]*)"/.exec(text)?.[1] ?? "file", "latin1").toString();
  const type = /Content-Type: (\S+)/i.exec(text)?.[1] ?? "application/octet-stream";
  const start = text.indexOf("\r\n\r\n") + 4;
  const bytes = body.subarray(start, text.lastIndexOf(`\r\n--${boundary}`));
  const image = type.startsWith("image/");
  const m = picture("", 64, 64, { modality: image ? "image" : "document", mime_type: type, file_name: name, label: name, size_bytes: bytes.length });
  m.bytes = bytes;
  return m;
}

/** Starts the server. pace is the duration of a step in ms. */
export async function serve({ port = 0, pace = 400 } = {}) {
  if (conversations.size === 0) stage();
  const table = Object.entries(routes(pace)).map(([key, f]) => {
    const [method, path] = key.split(" ");
    return { method, at: new RegExp(`^${path.replace(":id", "([^/]+)")}$`), f };
  });
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://x");
    const path = decodeURIComponent(url.pathname);
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const json = (status, value) => { response.writeHead(status, { "Content-Type": "application/json" }); response.end(JSON.stringify(value, (k, v) => (k === "bytes" ? undefined : v))); };
    const events = /^\/api\/(?:runs\/([^/]+)\/)?events$/.exec(path);
    if (events) return stream(request, response, events[1], Number(request.headers["last-event-id"] ?? url.searchParams.get("after") ?? -1));
    if (path === "/api/media" && request.method === "POST") return json(201, upload(body, /boundary=(.+)$/.exec(request.headers["content-type"])[1]));
    const file = /^\/media\/([^/]+)$/.exec(path);
    if (file) return bytes(response, media.get(file[1]), Number(url.searchParams.get("w")));
    const paper = /^\/api\/runs\/([^/]+)\/report$/.exec(path);
    if (paper) { response.writeHead(200, { "Content-Type": "text/html", "Content-Security-Policy": "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'" }); return response.end(report(runs.get(paper[1]))); }
    for (const r of table) {
      const hit = r.method === request.method && r.at.exec(path);
      if (hit) return json(...r.f(hit[1], url.searchParams, body.length ? JSON.parse(body.toString()) : {}));
    }
    if (path.startsWith("/api/")) return json(404, { status: 404, code: "not_found", detail: "No such operation.", hint: "", retryable: false });
    page(response, path);
  });
  await new Promise((ready) => { server.listen(port, "127.0.0.1", ready); });
  return { url: `http://127.0.0.1:${server.address().port}`, runs, media, streams, generations, gate, conversations, talk, begin, end, picture, stop: () => { server.closeAllConnections(); server.close(); } };
}

function stream(request, response, run, after) {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  response.write("retry: 300\n\n");
  const s = { response, run };
  if (after >= 0) for (const r of runs.values()) if (!run || r.id === run) for (const e of r.events) if (e.id > after) write(response, e);
  streams.add(s);
  request.on("close", () => streams.delete(s));
  response.on("close", () => streams.delete(s));
}

function bytes(response, m, width) {
  if (!m) { response.writeHead(404); return response.end(); }
  response.writeHead(200, { "Content-Type": m.bytes ? m.mime_type : "image/png", "Cache-Control": "private, max-age=31536000, immutable" });
  const w = Math.min(width || m.width, m.width);
  response.end(m.bytes ?? png(w, Math.round((w * m.height) / m.width), m.id));
}

function page(response, path) {
  const file = normalize(join(dist, path));
  const there = extname(path) && file.startsWith(dist) && existsSync(file);
  if (extname(path) && !there) { response.writeHead(404); return response.end(); }
  response.writeHead(200, { "Content-Type": types[extname(there ? file : "x.html")] ?? "application/octet-stream", "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:" });
  response.end(readFileSync(there ? file : join(dist, "index.html")));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve({ port: Number(process.argv[2] ?? 8490), pace: Number(process.argv[3] ?? 900) });
  console.log(url);
}
