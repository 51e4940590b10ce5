// The runs of this tab: one stream delivers new events, replays deliver earlier ones.
import { eventNames, readEvent } from "../schema/event";
import type { RunEvent } from "../schema/event";
import type { Media } from "./contract";
import { add, newLog } from "../schema/log";
import type { RunLog } from "../schema/log";
import { over } from "../schema/run";
import type { RunState } from "../schema/run";

export type Connection = "connecting" | "open" | "lost";

const replaysAtOnce = 2;
const frame = 40; // ms between two updates of streamed text

/** Opens a stream of the server; replaced in tests. */
export type Open = (url: string) => EventSource;

/** The progress of a generation. */
export interface Progress { progress?: number; note?: string; partial?: Media }

export class Live {
  connection: Connection = "connecting";
  private logs = new Map<string, RunLog>();
  private roots = new Map<string, string>(); // run of a sub-agent -> root run
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

  /** Opens the stream. If the browser does not reconnect by itself, this does after a growing delay. */
  connect() {
    clearTimeout(this.again);
    this.source?.close();
    const source = this.open(this.last > 0 ? `/api/events?after=${this.last}` : "/api/events");
    this.source = source;
    source.onopen = () => {
      const lost = this.connection === "lost";
      this.wait = 1000;
      this.say("open");
      // Replays deliver the events that the stream missed.
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

  /** Replays the events of a run from its beginning: once, or again if anew is set. */
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

  /** The progress of a generation outside a run. */
  making = (operation: string): { progress?: number; partial?: Media } => this.makings.get(operation) ?? {};

  /** The progress of a workflow's sub-action. */
  job = (metadata: string): Progress => this.jobs.get(metadata) ?? {};

  log(id: string): RunLog | undefined {
    return this.logs.get(id);
  }

  /** The runs of a conversation that this tab knows. */
  of(conversation: string): RunState[] {
    return [...this.logs.values()].map((l) => l.state).filter((s) => s.conversationId === conversation);
  }

  running(): RunState[] {
    return [...this.logs.values()].map((l) => l.state).filter((s) => s.status === "running");
  }

  /** A counter that increases when a run or a generation changes. */
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
      // The stream follows a run in progress, so its replay ends when no more events arrive.
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

  /** Records the progress of a generation outside a run. */
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

  /** Notifies the watchers at most once per frame, because streamed text changes more often. */
  private changed() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.version++;
      for (const f of this.watchers) f();
    }, frame);
  }
}

/** Records the conversation that an event of the run names. */
function conversation(log: RunLog, e: RunEvent): RunLog {
  const id = e.data.conversation_id;
  return id && log.state.conversationId !== id ? { ...log, state: { ...log.state, conversationId: id } } : log;
}
