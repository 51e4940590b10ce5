// The state of a run as a pure function of its events.
import type { Cost, Failure, Media, Question, Status, Usage } from "../api/contract";
import type { Payload, RunEvent } from "./event";

export interface Step {
  id: string;
  kind: "action" | "agent";
  /** The run of the step, and the run that a sub-agent starts. */
  runId: string;
  childRunId?: string;
  name: string;
  status: "running" | "succeeded" | "failed" | "cancelled";
  startedAt: number;
  endedAt?: number;
  turn?: number;
  task?: string;
  message?: string;
  /** The newest note and the newest preview of a long operation. */
  note?: string;
  partial?: Media;
  refs: string[];
}

/** One request to a language model. */
export interface Turn {
  key: string;
  runId: string;
  turn: number;
  model?: string;
  startedAt: number;
  endedAt?: number;
  reasoning?: string;
  actions: string[];
  inputTokens?: number;
  outputTokens?: number;
  error?: string;
}

export interface RunState {
  id: string;
  agent?: string;
  agentName?: string;
  task?: string;
  conversationId?: string;
  status?: Status;
  text: string;
  steps: Step[];
  turns: Turn[];
  media: Record<string, Media>;
  promoted: string[];
  questions: Question[];
  warnings: string[];
  failure?: Failure;
  cost?: Cost;
  usage?: Usage;
  startedAt?: number;
  endedAt?: number;
}

export function newRun(id: string): RunState {
  return { id, text: "", steps: [], turns: [], media: {}, promoted: [], questions: [], warnings: [] };
}

export function isRunFinished(status: Status | undefined): boolean {
  return status === "succeeded" || status === "failed" || status === "cancelled";
}

/** Returns the state after an event. */
export function reduceRun(s: RunState, e: RunEvent): RunState {
  const d = e.data;
  const own = d.run_id === s.id;
  switch (e.name) {
    case "run-started":
    case "run-resumed":
      return own ? startedRun(s, d) : s;
    case "run-paused":
      return own ? { ...finishedRun(s, d), status: "paused", questions: d.questions ?? [] } : s;
    case "run-succeeded":
    case "run-failed":
    case "run-cancelled":
      return own ? finishedRun(s, { ...d, status: e.name.slice(4) as Status }) : s;
    case "message-delta":
      return own ? { ...s, text: d.text ?? "" } : s;
    case "message-withdrawn":
      return own ? { ...s, text: "" } : s;
    case "warning":
      return d.message && !s.warnings.includes(d.message) ? { ...s, warnings: [...s.warnings, d.message] } : s;
    case "media-stored":
    case "media-promoted":
    case "media-pruned":
      return { ...s, ...media(s, e) };
    case "turn-started":
    case "turn-finished":
      return { ...s, turns: turns(s.turns, e) };
    default:
      return { ...s, steps: steps(s.steps, e) };
  }
}

function startedRun(s: RunState, d: Payload): RunState {
  const { failure: _failure, endedAt: _endedAt, ...rest } = s;
  return {
    ...rest, status: "running", questions: [],
    agent: d.agent ?? s.agent, agentName: d.name ?? s.agentName, task: d.task ?? s.task,
    conversationId: d.conversation_id ?? s.conversationId, startedAt: s.startedAt ?? timestamp(d),
  } as RunState;
}

function finishedRun(s: RunState, d: Payload): RunState {
  const end = timestamp(d);
  const failure = typeof d.error === "string" ? { message: d.error } : d.error;
  return {
    ...s,
    ...(d.status && { status: d.status }),
    ...(failure && { failure }),
    ...(d.cost && { cost: d.cost }),
    ...(d.usage && { usage: d.usage }),
    text: d.message || s.text,
    questions: [],
    endedAt: end,
    steps: s.steps.map((step) => (step.status === "running" && isRunFinished(d.status) ? { ...step, status: "cancelled", endedAt: end } : step)),
  };
}

function media(s: RunState, e: RunEvent): Partial<RunState> {
  const item = e.data.output;
  if (!item?.ref) return {};
  if (e.name === "media-pruned") return { promoted: s.promoted.filter((r) => r !== item.ref) };
  const known = { media: { ...s.media, [item.ref]: { ...s.media[item.ref], ...item } } };
  if (e.name === "media-stored" || s.promoted.includes(item.ref)) return known;
  return { ...known, promoted: [...s.promoted, item.ref] };
}

function turns(all: Turn[], e: RunEvent): Turn[] {
  const d = e.data;
  const key = `${d.run_id} ${d.turn ?? 0}`;
  if (e.name === "turn-started") {
    return [...all.filter((t) => t.key !== key), { key, runId: d.run_id, turn: d.turn ?? 0, startedAt: timestamp(d), actions: [], ...(d.model && { model: d.model }) }];
  }
  return all.map((t) => (t.key !== key ? t : {
    ...t, endedAt: timestamp(d), actions: [...(d.agents ?? []), ...(d.actions ?? [])],
    ...(d.reasoning && { reasoning: d.reasoning }),
    ...(d.input_tokens !== undefined && { inputTokens: d.input_tokens }),
    ...(d.output_tokens !== undefined && { outputTokens: d.output_tokens }),
    ...(typeof d.error === "string" && d.error && { error: d.error }),
  }));
}

function steps(all: Step[], e: RunEvent): Step[] {
  const d = e.data;
  if (!d.step_id) return all;
  switch (e.name) {
    case "action-started":
    case "agent-started":
      return [...all.filter((s) => s.id !== d.step_id), newStep(e)];
    case "action-finished":
      return updateStep(all, d.step_id, () => ({ status: d.success ? "succeeded" : "failed", ...endFields(d) }));
    case "agent-finished":
      return updateStep(all, d.step_id, () => ({ status: d.status === "succeeded" ? "succeeded" : d.status === "cancelled" ? "cancelled" : d.status === "paused" ? "running" : "failed", ...endFields(d) }));
    case "operation-progress":
      return updateStep(all, d.step_id, (s) => (s.status === "running" && d.note ? { note: d.note } : {}));
    case "operation-partial":
      return updateStep(all, d.step_id, (s) => (s.status === "running" && d.output ? { partial: d.output } : {}));
    default:
      return all;
  }
}

function newStep(e: RunEvent): Step {
  const d = e.data;
  return {
    id: d.step_id ?? "", kind: e.name === "agent-started" ? "agent" : "action", runId: d.run_id,
    name: d.name || d.agent || "Step", status: "running", startedAt: timestamp(d), refs: [],
    ...(d.turn !== undefined && { turn: d.turn }),
    ...(d.task && { task: d.task }),
    ...(d.child_run_id && { childRunId: d.child_run_id }),
  };
}

function endFields(d: Payload): Partial<Step> {
  return { endedAt: timestamp(d), refs: d.refs ?? [], ...(d.message && { message: d.message }) };
}

function updateStep(all: Step[], id: string, to: (s: Step) => Partial<Step>): Step[] {
  return all.map((s) => (s.id === id ? { ...s, ...to(s) } : s));
}

function timestamp(d: Payload): number {
  const at = d.at ? Date.parse(d.at) : NaN;
  return Number.isNaN(at) ? Date.now() : at;
}
