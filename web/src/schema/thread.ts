// A conversation as exchanges: a person's message and the run that answers it.
import type { Media, Message, Status } from "../api/contract";
import type { RunState } from "./run";

export interface Exchange {
  runId: string;
  at: string;
  text: string;
  attachments: Media[];
  agent?: string;
  answer?: Message;
  status: Status;
}

/** A sent message that the server's list may not contain yet. */
export interface SentMessage {
  runId: string;
  text: string;
  attachments: Media[];
  at: string;
  agent?: string;
}

/** Pairs messages with their runs, oldest first. The state of live runs is newer than the list. Runs and
 * sent messages that the list lacks come last. */
export function buildExchanges(messages: Message[], live: RunState[], sent: SentMessage[]): Exchange[] {
  const all = new Map<string, Exchange>();
  const emptyExchange = (runId: string, at: string): Exchange => ({ runId, at, text: "", attachments: [], status: "running" });
  for (const m of messages) {
    const e = all.get(m.run_id) ?? emptyExchange(m.run_id, m.created_at);
    if (m.role === "user") all.set(m.run_id, { ...e, text: m.text, attachments: m.attachments ?? [], at: m.created_at });
    else all.set(m.run_id, { ...e, answer: m, status: m.status ?? "succeeded", ...(m.agent && { agent: m.agent }) });
  }
  for (const s of sent) if (!all.has(s.runId)) all.set(s.runId, { ...emptyExchange(s.runId, s.at), ...s });
  for (const run of live) {
    const e = all.get(run.id) ?? emptyExchange(run.id, new Date(run.startedAt ?? 0).toISOString());
    all.set(run.id, { ...e, text: e.text || run.task || "", status: run.status ?? e.status, ...(run.agentName && { agent: run.agentName }) });
  }
  return [...all.values()];
}
