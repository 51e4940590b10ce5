// The events of a run as the stream delivers them. The list is closed: events with other names
// are ignored.
import type { Cost, Failure, Media, Question, Status, Usage } from "../api/contract";
import type { Operation } from "./edit";
import type { Node } from "./view";

export const eventNames = [
  "run-started", "run-paused", "run-resumed", "run-succeeded", "run-failed", "run-cancelled",
  "turn-started", "turn-finished", "message-delta", "message-withdrawn", "action-started", "action-finished",
  "agent-started", "agent-finished", "operation-started", "operation-finished", "operation-progress",
  "operation-partial", "step-started", "step-finished", "media-stored", "media-promoted", "media-pruned",
  "interaction-opened", "interaction-patched", "interaction-answered", "warning",
] as const;

export type EventName = (typeof eventNames)[number];

/** The fields of every payload; each event has some of them. */
export interface Payload {
  run_id: string;
  tree?: string;
  conversation_id?: string;
  agent_path?: string;
  at?: string;
  agent?: string;
  name?: string;
  task?: string;
  model?: string;
  status?: Status;
  message?: string;
  text?: string;
  turn?: number;
  turns?: number;
  usage?: Usage;
  cost?: Cost;
  error?: Failure | string;
  questions?: Question[];
  reasoning?: string;
  actions?: string[];
  agents?: string[];
  done?: boolean;
  input_tokens?: number;
  output_tokens?: number;
  step_id?: string;
  success?: boolean;
  code?: string;
  refs?: string[];
  cut?: boolean;
  child_run_id?: string;
  operation?: string;
  note?: string;
  /** The progress of a generation, from 0 to 1. */
  progress?: number;
  output?: Media;
  /** In workflows: the interaction with its version and changes, and the row of a sub-action. */
  interaction_id?: string;
  version?: number;
  changes?: { nodes: Node[]; removed?: string[] };
  patch?: Operation[];
  metadata_id?: string;
  elapsed_ms?: number;
}

export interface RunEvent {
  /** The position in the global sequence; absent for events that are not stored, such as deltas. */
  id?: number;
  name: EventName;
  data: Payload;
}

/** Parses one message of the stream; undefined if it is not a valid run event. */
export function parseEvent(name: string, id: string, text: string): RunEvent | undefined {
  if (!(eventNames as readonly string[]).includes(name)) return undefined;
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof data !== "object" || data === null || typeof (data as Payload).run_id !== "string") return undefined;
  const event: RunEvent = { name: name as EventName, data: data as Payload };
  return /^\d+$/.test(id) && !isTransient(event.name) ? { ...event, id: Number(id) } : event;
}

/** Reports whether events of a name only show work in progress. The server sends them without an id, except whole
 * messages; the browser then gives them the id of the previous event. */
export function isTransient(name: EventName): boolean {
  return name === "message-delta" || name === "message-withdrawn" || name === "operation-progress" || name === "operation-partial";
}
