// Workflows in the API: definitions, runs, interactions and sub-actions.
import type { JSONObject } from "../schema/pointer";
import type { Operation } from "../schema/edit";
import type { Change, Interaction } from "../schema/view";
import { errorFromResponse, request } from "./client";
import type { List } from "./contract";
import type { components } from "./types.gen";

type Schemas = components["schemas"];

export type Workflow = Omit<Schemas["Workflow"], "state_schema" | "definition"> & { state_schema?: JSONObject; definition?: JSONObject };
export type WorkflowRun = Schemas["WorkflowRun"];
export type WorkflowRunStep = Schemas["WorkflowRunStep"];
export type WorkflowCheck = Omit<Schemas["WorkflowCheck"], "workflow" | "preview"> & { workflow?: Workflow; preview?: Interaction };

/** One run of a sub-action. */
export type SubActionRun = Schemas["SubAction"];

const id = encodeURIComponent;
const get = <T>(path: string) => request<T>("GET", path);

/** The request that starts a sub-action. */
interface NewSubAction { interaction_id: string; path: string; sub_action_id: string; params: JSONObject; request_id: string; stand_in?: "offline" }

export const workflowApi = {
  list: () => get<List<Workflow>>("/api/workflows"),
  definition: (w: string) => get<Workflow>(`/api/workflows/${id(w)}`),
  check: (text: string, state?: unknown) => request<WorkflowCheck>("POST", "/api/workflows/validate", { text, ...(state !== undefined && { state }) }),
  runs: (after = "") => get<List<WorkflowRun>>(`/api/workflow-runs?limit=30${after ? `&after=${id(after)}` : ""}`),
  run: (r: string) => get<WorkflowRun>(`/api/workflow-runs/${id(r)}`),
  start: (body: { workflow_id?: string; definition?: unknown; state: unknown }, key: string) => request<{ id: string }>("POST", "/api/workflow-runs", body, { "Idempotency-Key": key }),
  cancel: (r: string) => request<unknown>("POST", `/api/workflow-runs/${id(r)}/cancel`),
  fork: (r: string, step: string, key: string) => request<{ id: string }>("POST", `/api/workflow-runs/${id(r)}/fork`, { step }, { "Idempotency-Key": key }),
  interaction: (i: string) => get<Interaction>(`/api/interactions/${id(i)}`),
  edit: (i: string, version: number, operations: Operation[]) => request<Change>("PATCH", `/api/interactions/${id(i)}`, operations, { "If-Match": `"${version}"` }),
  answer: (i: string, body: object, key: string) => request<unknown>("POST", `/api/interactions/${id(i)}/answer`, body, { "Idempotency-Key": key }),
  subActions,
  cancelSubAction: (m: string) => request<unknown>("POST", `/api/sub-actions/${id(m)}/cancel`),
  retrySubAction: (m: string, positions: number[], key: string) => request<unknown>("POST", `/api/sub-actions/${id(m)}/retry`, positions.length > 0 ? { positions } : {}, { "Idempotency-Key": key }),
  price: (i: string, body: Omit<NewSubAction, "interaction_id" | "request_id">) => request<Schemas["SubActionPrice"]>("POST", `/api/interactions/${id(i)}/price`, body),
  startSubAction,
};

/** Returns all sub-actions of a run, oldest first. */
async function subActions(run: string): Promise<{ items: SubActionRun[] }> {
  const items: SubActionRun[] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const page: List<SubActionRun> = await get(`/api/workflow-runs/${id(run)}/sub-actions?limit=200${after && `&after=${id(after)}`}`);
    items.push(...page.items);
    after = page.next || undefined;
  }
  return { items };
}

/** Starts a sub-action. The response begins when the server has accepted it; its events arrive on the tab's stream. */
async function startSubAction(run: string, body: NewSubAction): Promise<void> {
  const response = await fetch(`/workflow/${id(run)}/sub-action/stream`, {
    method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", Accept: "text/event-stream", "Idempotency-Key": body.request_id },
  }).catch(() => { throw errorFromResponse(0, ""); });
  if (!response.ok || !response.headers.get("Content-Type")?.startsWith("text/event-stream")) throw errorFromResponse(response.status, await response.text());
  await response.body?.cancel();
}
