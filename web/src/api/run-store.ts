// The runs of this tab: one stream delivers new events, replays deliver earlier ones.
import { eventNames, parseEvent } from "../schema/event";
import type { RunEvent } from "../schema/event";
import type { Media } from "./contract";
import { addEvent, newLog } from "../schema/log";
import type { RunLog } from "../schema/log";
import { isRunFinished } from "../schema/run";
import type { RunState } from "../schema/run";

type Connection = "connecting" | "open" | "lost";

const maxReplays = 2;
const hiddenDelay = 5000; // ms that a tab is hidden before its streams are closed
const notifyInterval = 40; // ms between two notifications, because streamed text changes more often

/** Opens a stream of the server; replaced in tests. */
type OpenStream = (url: string) => EventSource;

/** The progress of a generation or a sub-action. */
interface Progress { progress?: number; note?: string; partial?: Media }

export class RunStore {
  connection: Connection = "connecting";
  /** Called when the stream is open, for the first time too: what was read before may lack events. */
  opened = () => {};
  /** Called when the server has refused the stream. */
  refused = () => {};
  private logs = new Map<string, RunLog>();
  private roots = new Map<string, string>(); // run of a sub-agent -> root run
  private subscribers = new Set<() => void>();
  private listeners = new Set<(e: RunEvent, root: string) => void>();
  private source: EventSource | undefined;
  private notifyTimer: ReturnType<typeof setTimeout> | undefined;
  private reconnectTimer: ReturnType<typeof setTimeout> | undefined;
  private hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  private replays = new Map<string, EventSource>();
  private replayQueue: string[] = [];
  private replayed = new Set<string>();
  private failedReplays = new Set<string>();
  private generations = new Map<string, Progress>();
  private subActions = new Map<string, Progress>();
  private version = 0;
  private lastEventId = 0;
  private reconnectDelay = 1000;

  constructor(private readonly open: OpenStream = (url) => new EventSource(url)) {}

  /** Opens the stream, and keeps it open while the tab is visible: a browser has at most six connections to a server for
   * all tabs together, so that a page would not load while six tabs have their streams. */
  start() {
    const follow = () => {
      clearTimeout(this.hiddenTimer);
      if (document.visibilityState === "hidden") this.hiddenTimer = setTimeout(() => this.close(), hiddenDelay);
      else if (!this.source) this.connect();
    };
    document.addEventListener("visibilitychange", follow);
    this.connect();
    follow();
  }

  /** Opens the stream. If the browser does not reconnect by itself, this does after a growing delay. */
  connect() {
    clearTimeout(this.reconnectTimer);
    this.source?.close();
    const source = this.open(this.lastEventId > 0 ? `/api/events?after=${this.lastEventId}` : "/api/events");
    this.source = source;
    source.onopen = () => {
      this.reconnectDelay = 1000;
      this.setConnection("open");
      // Replays deliver the events that the stream missed, also before it was open for the first time.
      for (const run of [...this.runningRuns().map((r) => r.id), ...this.failedReplays]) this.replay(run, true);
      this.opened();
    };
    source.onerror = () => {
      this.setConnection("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      this.refused();
      this.reconnectTimer = setTimeout(() => this.connect(), this.reconnectDelay);
      this.reconnectDelay = Math.min(this.reconnectDelay * 2, 15_000);
    };
    this.listen(source);
  }

  /** Closes the stream and the replays, which start again when it is opened. */
  close() {
    clearTimeout(this.reconnectTimer);
    this.source?.close();
    this.source = undefined;
    for (const [run, s] of this.replays) {
      s.close();
      this.failedReplays.add(run);
    }
    this.replays.clear();
    this.setConnection("connecting");
  }

  /** Replays the events of a run from its beginning: once, or again if force is set. */
  replay(run: string, force = false) {
    if (!force && this.replayed.has(run) && !this.failedReplays.has(run)) return;
    if (this.replays.has(run) || this.replayQueue.includes(run)) return;
    this.replayed.add(run);
    this.failedReplays.delete(run);
    this.replayQueue.push(run);
    this.startReplays();
  }

  run(id: string): RunState | undefined {
    return this.logs.get(id)?.state;
  }

  /** The progress of a generation outside a run. */
  generationProgress = (operation: string): Progress => this.generations.get(operation) ?? {};

  /** The progress of a workflow's sub-action. */
  subActionProgress = (metadata: string): Progress => this.subActions.get(metadata) ?? {};

  log(id: string): RunLog | undefined {
    return this.logs.get(id);
  }

  /** The runs of a conversation that this tab knows. */
  runsOf(conversation: string): RunState[] {
    return [...this.logs.values()].map((l) => l.state).filter((s) => s.conversationId === conversation);
  }

  runningRuns(): RunState[] {
    return [...this.logs.values()].map((l) => l.state).filter((s) => s.status === "running");
  }

  /** A counter that increases when a run or a generation changes. */
  snapshot = (): number => this.version;

  subscribe = (f: () => void): (() => void) => {
    this.subscribers.add(f);
    return () => this.subscribers.delete(f);
  };

  onEvent(f: (e: RunEvent, root: string) => void): () => void {
    this.listeners.add(f);
    return () => this.listeners.delete(f);
  }

  private listen(source: EventSource, ended?: () => void) {
    for (const name of eventNames) {
      source.addEventListener(name, (m) => {
        const e = parseEvent(name, m.lastEventId, m.data as string);
        if (e) this.handleEvent(e, ended !== undefined);
        if (e && ended && e.data.run_id === this.rootOf(e) && isRunFinished(this.run(e.data.run_id)?.status)) ended();
      });
    }
  }

  private startReplays() {
    while (this.replays.size < maxReplays) {
      const run = this.replayQueue.shift();
      if (!run) return;
      const source = this.open(`/api/runs/${encodeURIComponent(run)}/events?after=0`);
      this.replays.set(run, source);
      const end = () => {
        clearTimeout(idleTimer);
        source.close();
        if (this.replays.get(run) !== source) return;
        this.replays.delete(run);
        this.startReplays();
      };
      // The stream follows a run in progress, so its replay ends when no more events arrive.
      let idleTimer = setTimeout(end, 10_000);
      const restartTimeout = () => { clearTimeout(idleTimer); idleTimer = setTimeout(end, 1500); };
      for (const name of eventNames) source.addEventListener(name, restartTimeout);
      source.onerror = () => {
        if (!isRunFinished(this.run(run)?.status)) this.failedReplays.add(run);
        end();
      };
      this.listen(source, end);
    }
  }

  private rootOf(e: RunEvent): string {
    return e.data.tree || this.roots.get(e.data.run_id) || e.data.run_id;
  }

  private handleEvent(e: RunEvent, replayed: boolean) {
    if (!e.data.run_id) return this.recordGeneration(e);
    if (e.data.metadata_id && !replayed) recordProgress(this.subActions, e.data.metadata_id, e);
    const root = this.rootOf(e);
    if (e.data.child_run_id) this.roots.set(e.data.child_run_id, root);
    if (!replayed && e.id !== undefined) this.lastEventId = Math.max(this.lastEventId, e.id);
    const before = this.logs.get(root) ?? newLog(root);
    const after = addEvent(before, e);
    if (after !== before) this.logs.set(root, withConversation(after, e));
    if (!replayed) for (const f of this.listeners) f(e, root); // also if a replay has delivered the event already
    if (after !== before) this.scheduleNotify();
  }

  /** Records the progress of a generation outside a run. */
  private recordGeneration(e: RunEvent) {
    if (!e.data.operation) return;
    recordProgress(this.generations, e.data.operation, e);
    for (const f of this.listeners) f(e, "");
    this.scheduleNotify();
  }

  private setConnection(c: Connection) {
    if (c === this.connection) return;
    this.connection = c;
    this.scheduleNotify();
  }

  /** Notifies the subscribers at most once per notifyInterval. */
  private scheduleNotify() {
    this.notifyTimer ??= setTimeout(() => {
      this.notifyTimer = undefined;
      this.version++;
      for (const f of this.subscribers) f();
    }, notifyInterval);
  }
}

/** Records the progress of an operation until it ends: a retry has the same id. */
function recordProgress(all: Map<string, Progress>, id: string, { name, data }: RunEvent) {
  if (name === "operation-finished") all.delete(id);
  if (name !== "operation-progress" && name !== "operation-partial") return;
  const note = data.note ?? data.message;
  all.set(id, { ...all.get(id), ...(data.progress !== undefined && { progress: data.progress }), ...(note && { note }), ...(data.output && { partial: data.output }) });
}

/** Records the conversation that an event of the run names. */
function withConversation(log: RunLog, e: RunEvent): RunLog {
  const id = e.data.conversation_id;
  return id && log.state.conversationId !== id ? { ...log, state: { ...log.state, conversationId: id } } : log;
}
