// The events of one run in the order of their ids, however they arrive: live, replayed after a
// reload, or twice after a reconnect.
import { isTransient } from "./event";
import type { RunEvent } from "./event";
import { isRunFinished, newRun, reduceRun } from "./run";
import type { RunState } from "./run";

export interface RunLog {
  events: RunEvent[];
  state: RunState;
}

export function newLog(id: string): RunLog {
  return { events: [], state: newRun(id) };
}

/** Adds an event. A known event has no effect. */
export function addEvent(log: RunLog, e: RunEvent): RunLog {
  if (e.id === undefined) {
    // The final text of a run stands: a transient event that arrives late is ignored.
    return isRunFinished(log.state.status) && isTransient(e.name) ? log : { ...log, state: reduceRun(log.state, e) };
  }
  const last = log.events.at(-1)?.id ?? -1;
  if (e.id > last) return { events: [...log.events, e], state: reduceRun(log.state, e) };
  if (log.events.some((x) => x.id === e.id)) return log;
  const events = [...log.events, e].sort((a, b) => (a.id ?? 0) - (b.id ?? 0));
  return { events, state: refold(log.state, events) };
}

/** Folds all events again and keeps the state that only transient events carried. */
function refold(before: RunState, events: RunEvent[]): RunState {
  const s = events.reduce(reduceRun, newRun(before.id));
  return {
    ...s,
    ...(before.conversationId && { conversationId: before.conversationId }),
    text: s.text || before.text,
    steps: s.steps.map((step) => {
      const old = step.status === "running" ? before.steps.find((x) => x.id === step.id) : undefined;
      return old ? { ...step, ...(old.note && { note: old.note }), ...(old.partial && { partial: old.partial }) } : step;
    }),
  };
}
