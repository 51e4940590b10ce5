// A server with an interaction, for tests of its components.
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from "@tanstack/react-router";
import { act, render, screen } from "@testing-library/react";
import { vi } from "vitest";
import changeCases from "../../../../workflow/testdata/changes.golden.json";
import { RunStore } from "../../api/run-store";
import { RunStoreProvider, invalidateOnEvents, queryClient } from "../../api/queries";
import type { SubActionRun } from "../../api/workflows";
import type { Change, Interaction, Node } from "../../schema/view";
import { InteractionView } from "./interaction";

export const cases = changeCases as unknown as { before: Interaction; steps: (Change & { after: { display_data: Interaction["display_data"]; view: Node } })[] };
export const before: Interaction = { ...cases.before, status: "open" };

/** A server with the example's interaction, and the stream of the tab. */
export class Server {
  asked: { method: string; path: string; body?: unknown; headers: Headers }[] = [];
  jobs: SubActionRun[] = [];
  answers: Record<string, () => Response> = {};
  interaction = before;
  private listeners = new Map<string, (m: MessageEvent) => void>();
  private last = 0;
  source = { onopen: null, onerror: null, close: vi.fn(), addEventListener: (name: string, f: (m: MessageEvent) => void) => this.listeners.set(name, f) } as unknown as EventSource;

  fetch = vi.fn(async (path: string, init?: RequestInit) => {
    const method = init?.method ?? "GET";
    this.asked.push({ method, path, headers: new Headers(init?.headers), ...(typeof init?.body === "string" && { body: JSON.parse(init.body) as unknown }) });
    const own = this.answers[`${method} ${path.split("?")[0]}`];
    if (own) return own();
    if (path.includes("/sub-actions")) return json({ items: this.jobs });
    if (method === "GET" && path.includes("/interactions/")) return json(this.interaction);
    return json({});
  });
  event(name: string, data: object) {
    act(() => this.listeners.get(name)?.(new MessageEvent(name, { data: JSON.stringify({ run_id: before.workflow_run_id, ...data }), lastEventId: String(++this.last) })));
  }
  of = (method: string, part: string) => this.asked.filter((a) => a.method === method && a.path.includes(part));
}

export const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
export const stream = (...events: [string, object][]) => new Response(events.map(([type, data], i) => `event: ${type}\nid: ${i + 1}\ndata: ${JSON.stringify({ type, data })}\n\n`).join(""), { headers: { "Content-Type": "text/event-stream" } });
export const job = (more: Partial<SubActionRun> = {}): SubActionRun => ({ id: "gm_1", workflow_run_id: "wr_1", contents: [], errors: [], cost_usd: null, interaction_id: before.interaction_id, action_type: "media.midjourney.txt2img", sub_action_id: "generate", prompt_id: "prompt_a", status: "running", created_at: new Date().toISOString(), ...more });

/** Draws an interaction of the server, and waits for its heading. */
export async function show(server: Server, interaction = before) {
  const store = new RunStore(() => server.source);
  store.connect();
  invalidateOnEvents(store);
  const router = createRouter({ routeTree: createRootRoute({ component: () => <InteractionView interaction={interaction} run={interaction.workflow_run_id} /> }), history: createMemoryHistory() });
  render(<MantineProvider><Notifications /><QueryClientProvider client={queryClient}><RunStoreProvider value={store}><RouterProvider router={router as never} /></RunStoreProvider></QueryClientProvider></MantineProvider>);
  await screen.findByRole("heading", { name: before.title });
}

export const card = (name: string) => screen.findByRole("article", { name });
export const stand = (n: number) => { const s = cases.steps[n - 1]; return { ...before, ...s?.after, version: s?.version ?? 0 }; };
