import { MantineProvider } from "@mantine/core";
import { Notifications, notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider, createMemoryHistory, createRouter } from "@tanstack/react-router";
import { fireEvent } from "@testing-library/dom";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RunStoreProvider, invalidateOnEvents, queryClient } from "../api/queries";
import { RunStore } from "../api/run-store";
import { router } from "../router";

const soon = { timeout: 8000 };
let answers: Record<string, () => unknown>; // by the start of the path; an Error is a lost connection
let asked: string[];
let keys: (string | null)[]; // of the requests

const refuse = (status: number, detail: string) => () => new Response(JSON.stringify({ code: "x", detail, retryable: false }), { status });

beforeEach(() => {
  asked = [];
  keys = [];
  answers = {};
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    const request = `${init?.method ?? "GET"} ${path}`;
    asked.push(request);
    keys.push(new Headers(init?.headers).get("Idempotency-Key"));
    const answer = Object.entries(answers).find(([start]) => request.startsWith(start))?.[1]() ?? { items: [] };
    if (answer instanceof Error) throw answer;
    return answer instanceof Response ? answer : new Response(JSON.stringify(answer));
  });
  vi.stubGlobal("IntersectionObserver", class {
    constructor(private tell: (all: { isIntersecting: boolean }[]) => void) {}
    observe() { setTimeout(() => this.tell([{ isIntersecting: true }])); }
    disconnect() { this.tell = () => undefined; }
  });
  queryClient.clear();
  sessionStorage.clear();
});
afterEach(() => vi.unstubAllGlobals());

let listeners: Map<string, (m: MessageEvent) => void>;

async function show(address: string) {
  listeners = new Map();
  const store = new RunStore(() => ({ close: vi.fn(), addEventListener: (name: string, f: (m: MessageEvent) => void) => listeners.set(name, f) }) as unknown as EventSource);
  store.connect();
  invalidateOnEvents(store);
  const own = createRouter({ routeTree: router.routeTree, history: createMemoryHistory({ initialEntries: [address] }) });
  render(<MantineProvider><Notifications /><QueryClientProvider client={queryClient}><RunStoreProvider value={store}><RouterProvider router={own as never} /></RunStoreProvider></QueryClientProvider></MantineProvider>);
  await screen.findByRole("main");
  return own;
}

const head = (id: string) => ({ id, title: `About ${id}`, created_at: "2026-11-22T10:00:00Z", updated_at: "2026-11-22T10:00:00Z", cost: { complete: true } });
const file = (id: string) => ({ id, ref: `doc-${id}`, modality: "document", mime_type: "text/csv", file_name: `${id}.csv`, size_bytes: 1 });

test("the media that cannot be loaded are not requested again and again, but by a button", async () => {
  answers["GET /api/media?limit=48&after="] = refuse(429, "Too many requests.");
  answers["GET /api/media?limit=48"] = () => ({ items: [file("a")], next: "n" });
  await show("/gallery");
  await screen.findByText(/Too many requests/, {}, soon);
  await new Promise((done) => setTimeout(done, 300));
  const more = () => asked.filter((a) => a.includes("after=n")).length;
  expect(more()).toBe(1);
  answers["GET /api/media?limit=48&after="] = () => ({ items: [file("b")] });
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await screen.findByText("b.csv", {}, soon);
});

test("the media that a generation outside a run made appear in the list", async () => {
  answers["GET /api/media?limit=48"] = () => ({ items: [file("a")] });
  await show("/gallery");
  await screen.findByText("a.csv", {}, soon);
  answers["GET /api/media?limit=48"] = () => ({ items: [file("b"), file("a")] });
  listeners.get("operation-finished")?.(new MessageEvent("operation-finished", { data: '{"run_id":"","operation":"o"}' }));
  await screen.findByText("b.csv", {}, soon);
});

test("the search field shows the search of the address", async () => {
  const own = await show("/gallery");
  const box = await screen.findByRole<HTMLInputElement>("searchbox", { name: "Search media" }, soon);
  await userEvent.type(box, "cat");
  await waitFor(() => expect(own.state.location.search).toMatchObject({ q: "cat" }), soon);
  await userEvent.click(screen.getAllByRole("link", { name: "Media" })[0] as HTMLElement);
  await waitFor(() => expect(box.value).toBe(""), soon);
});

test("the conversations stay in the list when older ones cannot be loaded", async () => {
  answers["GET /api/conversations?limit=50&after="] = refuse(429, "Too many requests.");
  answers["GET /api/conversations?limit=50"] = () => ({ items: [head("a")], next: "n" });
  await show("/gallery");
  await userEvent.click(await screen.findByRole("button", { name: "Show older" }, soon));
  await screen.findByText(/could not be loaded/, {}, soon);
  expect(screen.getByText("About a")).toBeTruthy();
  answers["GET /api/conversations?limit=50&after="] = () => ({ items: [head("b")] });
  await userEvent.click(screen.getByRole("button", { name: "Show older" }));
  await screen.findByText("About b", {}, soon);
});

test("a title that was not saved stays typed", async () => {
  answers["GET /api/conversations?limit=50"] = () => ({ items: [head("a")] });
  answers["PATCH /api/conversations/a"] = refuse(503, "The database is down.");
  await show("/gallery");
  await userEvent.click(await screen.findByRole("button", { name: "Actions of About a" }, soon));
  await userEvent.click(await screen.findByRole("menuitem", { name: "Rename" }, soon));
  const box = await screen.findByRole<HTMLInputElement>("textbox", { name: "New title" }, soon);
  await userEvent.clear(box);
  await userEvent.type(box, "Lighthouses{Enter}");
  await screen.findByText("The database is down.", {}, soon);
  expect(screen.getByRole<HTMLInputElement>("textbox", { name: "New title" }).value).toBe("Lighthouses");
});

test("a conversation that cannot be loaded says so", async () => {
  answers["GET /api/conversations/c"] = refuse(403, "The token lacks the scope.");
  await show("/c/c");
  await screen.findByText(/could not be loaded: The token lacks the scope/, {}, soon);
});

test("a conversation without a title has a heading", async () => {
  answers["GET /api/conversations/c"] = () => ({ ...head("c"), title: "", messages: [] });
  await show("/c/c");
  await screen.findByRole("heading", { level: 1, name: "Conversation" }, soon);
});

test.each(["/workflows/runs/x", "/workflows/x"])("%s distinguishes what does not exist from what cannot be loaded", async (address) => {
  answers["GET /api/workflow"] = () => new Error("network");
  const own = await show(address);
  await screen.findByText("The server cannot be reached.", {}, soon);
  expect(screen.queryByText(/not found/)).toBeNull();
  answers["GET /api/workflow"] = refuse(404, "There is none.");
  queryClient.clear();
  await own.navigate({ to: address.replace("/x", "/y") });
  await screen.findByRole("heading", { name: /not found/ }, soon);
  expect(screen.getByRole("link", { name: /^Show all/ }).getAttribute("href")).toBe("/workflows");
});

test("a run of a definition of its own, which was cancelled, has no link to a workflow and no error", async () => {
  answers["GET /api/workflow-runs/r/sub-actions"] = () => ({ items: [] });
  answers["GET /api/workflow-runs/r"] = () => ({ id: "r", title: "Mine", workflow_id: "mine", status: "cancelled", started_at: "2026-11-22T10:00:00Z", steps: [], state: {}, error: { code: "cancelled", message: "the run was cancelled" } });
  answers["GET /api/workflows"] = () => ({ items: [{ id: "other", title: "Other", steps: [] }] });
  await show("/workflows/runs/r");
  await screen.findByText("mine", {}, soon);
  expect(screen.queryByRole("link", { name: "mine" })).toBeNull();
  expect(screen.getByText("the run was cancelled").className).toBe("muted");
});

test("a workflow file with a mistake is listed with it", async () => {
  answers["GET /api/workflows"] = () => ({ items: [{ id: "mine.yaml", title: "mine.yaml", problem: "mine.yaml:2:1: /title: must be string", steps: [] }] });
  await show("/workflows");
  await screen.findByText(/cannot run: mine.yaml:2:1: .title: must be string/, {}, soon);
  expect(screen.queryByRole("link", { name: /mine.yaml/ })).toBeNull(); // there is no more to see
});

test("a workflow file that was corrected is listed as correct when the page is shown again", async () => {
  answers["GET /api/workflows"] = () => ({ items: [{ id: "mine.yaml", title: "mine.yaml", problem: "mine.yaml:2:1: /title: must be string", steps: [] }] });
  const own = await show("/workflows");
  await screen.findByText(/mine.yaml:2:1/, {}, soon);
  await own.navigate({ to: "/gallery" });
  answers["GET /api/workflows"] = () => ({ items: [{ id: "mine", title: "Mine", steps: [] }] });
  await own.navigate({ to: "/workflows" });
  await screen.findByRole("link", { name: "Mine" }, soon);
});

test("the page of a workflow follows its file until its text is edited", async () => {
  answers["POST /api/workflows/validate"] = () => ({ problems: [] });
  answers["GET /api/workflows/one"] = () => ({ id: "one", title: "One", steps: [], text: "id: one" });
  await show("/workflows/one");
  const text = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Definition" }, soon);
  const change = async (to: string) => {
    answers["GET /api/workflows/one"] = () => ({ id: "one", title: "One", steps: [], text: to });
    await queryClient.invalidateQueries({ queryKey: ["workflow"] });
  };
  await change("id: one # again");
  await waitFor(() => expect(text.value).toBe("id: one # again"), soon);
  fireEvent.change(text, { target: { value: "mine" } });
  await change("id: one # and again");
  expect(text.value).toBe("mine");
});

test("the reason of a failed run is shown once", async () => {
  const error = { code: "not_found", message: "step s: there is no agent" };
  answers["GET /api/workflow-runs/r/sub-actions"] = () => ({ items: [] });
  answers["GET /api/workflow-runs/r"] = () => ({ id: "r", status: "failed", started_at: "2026-11-22T10:00:00Z", steps: [{ id: "s", status: "failed", interactions: [], error }], state: {}, error });
  await show("/workflows/runs/r");
  await screen.findByRole("heading", { name: "Why it failed" }, soon);
  expect(screen.getAllByText(error.message)).toHaveLength(1);
});

test("a page names the access token and leads to the page to sign out, if there is one", async () => {
  answers["GET /api/health"] = () => ({ status: "ok", version: "1", offline: false, notes: [], token: "phone" });
  await show("/gallery");
  const out = await screen.findAllByRole("link", { name: "Signed in with phone: sign out" }, soon);
  expect(out[0]?.getAttribute("href")).toBe("/login");
});

test("the runs that cannot be loaded say so", async () => {
  answers["GET /api/workflow-runs"] = refuse(403, "The token lacks the scope.");
  await show("/workflows");
  await screen.findByText(/The token lacks the scope/, {}, soon);
});

test("a repetition of a step whose response was lost is requested again under its key", async () => {
  answers["GET /api/workflow-runs/r/sub-actions"] = () => ({ items: [] });
  answers["GET /api/workflow-runs/r"] = () => ({ id: "r", status: "succeeded", started_at: "2026-11-22T10:00:00Z", steps: [{ id: "s", status: "succeeded", interactions: [] }], state: {} });
  answers["POST /api/workflow-runs/r/fork"] = () => new Error("network");
  await show("/workflows/runs/r");
  const button = await screen.findByRole("button", { name: "Run again from here" }, soon);
  const forks = () => keys.filter((_, i) => asked[i]?.endsWith("/fork"));
  for (const times of [1, 2]) {
    await userEvent.click(button);
    await waitFor(() => expect(forks()).toHaveLength(times), soon);
    await waitFor(() => expect(button).toHaveProperty("disabled", false), soon);
  }
  expect(forks()[1]).toBe(forks()[0]);
});

test("a picture of a workflow run that is to be edited is attached to a new message", async () => {
  const picture = { id: "m1", ref: "img-a", modality: "image", mime_type: "image/png", label: "A lighthouse", size_bytes: 1, width: 8, height: 8 };
  answers["GET /api/workflow-runs/r/sub-actions"] = () => ({ items: [{ id: "gm", status: "succeeded", errors: [], contents: [{ id: "gc", media_id: "m1" }] }] });
  answers["GET /api/workflow-runs/r"] = () => ({ id: "r", status: "succeeded", started_at: "2026-11-22T10:00:00Z", steps: [], state: {} });
  answers["GET /api/media/m1"] = () => ({ ...picture, origin: { prompt: "A lighthouse in a storm" }, parents: [], children: [], sub_actions: [] });
  const own = await show("/workflows/runs/r?media=m1");
  await screen.findByRole("button", { name: /^Edit/ }, soon);
  fireEvent.keyDown(document.body, { key: "e" });
  await waitFor(() => expect(own.state.location.pathname).toBe("/"), soon);
  await waitFor(() => expect(screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" }).value).toBe("Edit this picture: A lighthouse in a storm"), soon);
  expect(screen.getByText("A lighthouse")).toBeTruthy();
});

test("an item in the address that does not exist is reported", async () => {
  answers["GET /api/media/gone"] = refuse(404, "There is no such item.");
  await show("/gallery?media=gone");
  await screen.findByText("There is no such item.", {}, soon);
});

test("an example replaces one's own message with an undo button, and an empty one or an example without", async () => {
  const user = userEvent.setup();
  await show("/");
  const message = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  const lighthouse = screen.getByRole("button", { name: /Draw a lighthouse/ });
  await user.click(lighthouse); // replaces what earlier tests drafted
  notifications.clean();
  await waitFor(() => expect(screen.queryByRole("button", { name: "Undo" })).toBeNull(), soon);
  fireEvent.change(message, { target: { value: "" } });
  await user.click(lighthouse);
  await user.click(lighthouse);
  expect(message.value).toBe("Draw a lighthouse in a storm");
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
  fireEvent.change(message, { target: { value: "My own words" } });
  await user.click(lighthouse);
  expect(message.value).toBe("Draw a lighthouse in a storm");
  await user.click(await screen.findByRole("button", { name: "Undo" }));
  await waitFor(() => expect(message.value).toBe("My own words"));
});

test("the form that starts a workflow opens without errors; what is still missing is an error once something was entered", async () => {
  answers["GET /api/workflows/two"] = () => ({ id: "two", title: "Two", steps: [], state_schema: { type: "object", required: ["scene", "mood"], properties: { scene: { type: "string" }, mood: { type: "string" } } } });
  answers["POST /api/workflows/validate"] = () => ({ problems: [] });
  await show("/workflows/two");
  const scene = await screen.findByRole("textbox", { name: "Scene" }, soon);
  expect(screen.queryByText("This field is required.")).toBeNull();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Start" }).disabled).toBe(true);
  expect(screen.getByText("Complete the form to start.")).toBeTruthy();
  fireEvent.change(scene, { target: { value: "a lake" } });
  expect(await screen.findByText("This field is required.")).toBeTruthy();
});
