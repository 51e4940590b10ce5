// The runs of this tab: one stream delivers new events, a replay earlier ones.
import { eventNames, readEvent } from "../schema/event";
import type { RunEvent } from "../schema/event";
import type { Media } from "./contract";
import { add, newLog } from "../schema/log";
import type { RunLog } from "../schema/log";
import { over } from "../schema/run";
import type { RunState } from "../schema/run";

export type Connection = "connecting" | "open" | "lost";

const replaysAtOnce = 2;
const frame = 40; // ms between two paintings of a text that streams

/** Opens a stream of the server; replaced in tests. */
export type Open = (url: string) => EventSource;

/** How far something is that is being made. */
export interface Progress { progress?: number; note?: string; partial?: Media }

export class Live {
  connection: Connection = "connecting";
  private logs = new Map<string, RunLog>();
  private roots = new Map<string, string>(); // run of a sub-agent -> root
  private watchers = new Set<() => void>();
  private listeners = new Set<(e: RunEvent, root: string) => void>();
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private again: ReturnType<typeof setTimeout> | undefined;
  private replays = new Map<string, EventSource>();
  private waiting: string[] = [];
  private replayed = new Set<string>();
  private makings = new Map<string, { progress?: number; partial?: Media }>();
  private jobs = new Map<string, Progress>();
  private version = 0;
  private last = 0;
  private wait = 1000;

  constructor(private readonly open: Open = (url) => new EventSource(url)) {}

  /** Opens the stream; the browser comes back by itself where it can, otherwise this does. */
  connect() {
    clearTimeout(this.again);
    this.source?.close();
    const source = this.open(this.last > 0 ? `/api/events?after=${this.last}` : "/api/events");
    this.source = source;
    source.onopen = () => {
      const lost = this.connection === "lost";
      this.wait = 1000;
      this.say("open");
      // What a stream without a beginning missed is in the replays.
      if (lost) for (const run of this.running()) this.replay(run.id, true);
    };
    source.onerror = () => {
      this.say("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      this.again = setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(this.wait * 2, 15_000);
    };
    this.listen(source);
  }

  close() {
    clearTimeout(this.again);
    this.source?.close();
    for (const s of this.replays.values()) s.close();
    this.replays.clear();
  }

  /** Brings the events of a run from its beginning, once; anew after a lost connection. */
  replay(run: string, anew = false) {
    if (!anew && this.replayed.has(run)) return;
    if (this.replays.has(run) || this.waiting.includes(run)) return;
    this.replayed.add(run);
    this.waiting.push(run);
    this.next();
  }

  run(id: string): RunState | undefined {
    return this.logs.get(id)?.state;
  }

  /** How far a generation is that belongs to no run. */
  making = (operation: string): { progress?: number; partial?: Media } => this.makings.get(operation) ?? {};

  /** How far a sub-action of a workflow is. */
  job = (metadata: string): Progress => this.jobs.get(metadata) ?? {};

  log(id: string): RunLog | undefined {
    return this.logs.get(id);
  }

  /** The runs of a conversation that this tab has heard of. */
  of(conversation: string): RunState[] {
    return [...this.logs.values()].map((l) => l.state).filter((s) => s.conversationId === conversation);
  }

  running(): RunState[] {
    return [...this.logs.values()].map((l) => l.state).filter((s) => s.status === "running");
  }

  /** A counter that changes when any run does. */
  snapshot = (): number => this.version;

  subscribe = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  };

  onEvent(f: (e: RunEvent, root: string) => void): () => void {
    this.listeners.add(f);
    return () => this.listeners.delete(f);
  }

  private listen(source: EventSource, ended?: () => void) {
    for (const name of eventNames) {
      source.addEventListener(name, (m) => {
        const e = readEvent(name, m.lastEventId, m.data as string);
        if (e) this.take(e, ended !== undefined);
        if (e && ended && e.data.run_id === this.root(e) && over(this.run(e.data.run_id)?.status)) ended();
      });
    }
  }

  private next() {
    while (this.replays.size < replaysAtOnce) {
      const run = this.waiting.shift();
      if (!run) return;
      const source = this.open(`/api/runs/${encodeURIComponent(run)}/events?after=0`);
      this.replays.set(run, source);
      const end = () => {
        clearTimeout(quiet);
        source.close();
        if (this.replays.get(run) !== source) return;
        this.replays.delete(run);
        this.next();
      };
      // A run that goes on is followed by the one stream: its replay ends when it falls silent.
      let quiet = setTimeout(end, 10_000);
      const heard = () => { clearTimeout(quiet); quiet = setTimeout(end, 1500); };
      for (const name of eventNames) source.addEventListener(name, heard);
      source.onerror = end;
      this.listen(source, end);
    }
  }

  private root(e: RunEvent): string {
    return e.data.tree || this.roots.get(e.data.run_id) || e.data.run_id;
  }

  private take(e: RunEvent, replayed: boolean) {
    if (!e.data.run_id) return this.make(e);
    if (e.data.metadata_id && !replayed) this.progress(e);
    const root = this.root(e);
    if (e.data.child_run_id) this.roots.set(e.data.child_run_id, root);
    if (!replayed && e.id !== undefined) this.last = Math.max(this.last, e.id);
    const before = this.logs.get(root) ?? newLog(root);
    const after = add(before, e);
    if (after === before) return;
    this.logs.set(root, conversation(after, e));
    if (!replayed) for (const f of this.listeners) f(e, root);
    this.changed();
  }

  /** Keeps how far a generation is that belongs to no run. */
  private make({ name, data }: RunEvent) {
    if (!data.operation) return;
    if (name === "operation-finished") this.makings.delete(data.operation);
    else if (name === "operation-progress" || name === "operation-partial") {
      this.makings.set(data.operation, { ...this.makings.get(data.operation), ...(data.progress !== undefined && { progress: data.progress }), ...(data.output && { partial: data.output }) });
    }
    this.changed();
  }

  private progress({ name, data }: RunEvent) {
    if (!data.metadata_id || (name !== "operation-progress" && name !== "operation-partial")) return;
    const note = data.note ?? data.message;
    this.jobs.set(data.metadata_id, { ...this.jobs.get(data.metadata_id), ...(data.progress !== undefined && { progress: data.progress }), ...(note && { note }), ...(data.output && { partial: data.output }) });
  }

  private say(c: Connection) {
    if (c === this.connection) return;
    this.connection = c;
    this.changed();
  }

  /** Tells the watchers at most once a frame: a text that streams changes more often. */
  private changed() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.version++;
      for (const f of this.watchers) f();
    }, frame);
  }
}

/** Keeps the conversation that any event of the run names. */
function conversation(log: RunLog, e: RunEvent): RunLog {
  const id = e.data.conversation_id;
  return id && log.state.conversationId !== id ? { ...log, state: { ...log.state, conversationId: id } } : log;
}
