import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RunStore } from "./run-store";

class Source extends EventTarget {
  static readonly CLOSED = 2;
  readyState = 1;
  onopen?: () => void;
  onerror?: () => void;
  constructor(readonly url: string) { super(); }
  close() { this.readyState = 2; }
  say(name: string, id: number | "", data: object) {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify({ run_id: "r", at: "2026-11-22T10:00:00Z", ...data }), lastEventId: String(id) }));
  }
}

let opened: Source[] = [];
const make = () => new RunStore((url) => { const s = new Source(url); opened.push(s); return s as unknown as EventSource; });
const at = (i: number) => { const s = opened[i]; if (!s) throw new Error(`no stream ${i}`); return s; };

beforeEach(() => {
  opened = [];
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", Source);
});
afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals(); });

describe("the stream of a tab", () => {
  test("is one, whatever runs there are", () => {
    const live = make();
    live.connect();
    for (const run of ["a", "b", "c"]) at(0).say("run-started", 1, { run_id: run });
    expect(opened).toHaveLength(1);
    expect(live.runningRuns().map((r) => r.id)).toEqual(["a", "b", "c"]);
  });

  test("gives what sub-agents do to the run that they work for", () => {
    const live = make();
    live.connect();
    at(0).say("run-started", 1, { conversation_id: "c" });
    at(0).say("agent-started", 2, { step_id: "s", name: "Helper", child_run_id: "k" });
    at(0).say("action-started", 3, { run_id: "k", step_id: "t", name: "Query" });
    expect(live.run("r")?.steps.map((s) => s.runId)).toEqual(["r", "k"]);
    expect(live.runsOf("c")).toHaveLength(1);
  });

  test("tells listeners also what a replay has delivered before it", () => {
    const live = make();
    live.connect();
    const heard: string[] = [];
    live.onEvent((e) => heard.push(e.name));
    live.replay("r");
    at(1).say("run-started", 1, {});
    at(1).say("interaction-patched", 2, { interaction_id: "i" });
    expect(heard).toEqual([]);
    at(0).say("run-started", 1, {});
    at(0).say("interaction-patched", 2, { interaction_id: "i" });
    expect(heard).toEqual(["run-started", "interaction-patched"]);
  });

  test("that opens late fills the gap behind a replay that has ended", () => {
    const live = make();
    live.connect();
    live.replay("r");
    at(1).say("run-started", 1, {});
    vi.advanceTimersByTime(11_000); // the replay ends, because the run is silent
    expect(live.runningRuns()).toHaveLength(1);
    at(0).onopen?.();
    expect(at(2).url).toBe("/api/runs/r/events?after=0");
  });

  test("is opened again after what it has seen, and fills the gap", () => {
    const live = make();
    live.connect();
    at(0).onopen?.();
    at(0).say("run-started", 7, {});
    at(0).readyState = 2;
    at(0).onerror?.();
    expect(live.connection).toBe("lost");
    vi.advanceTimersByTime(1000);
    expect(at(1).url).toBe("/api/events?after=7");
    at(1).onopen?.();
    expect(live.connection).toBe("open");
    expect(at(2).url).toBe("/api/runs/r/events?after=0");
    at(2).say("run-started", 7, {});
    at(2).say("run-succeeded", 8, { message: "Done." });
    at(1).say("run-succeeded", 8, { message: "Done." });
    expect(live.run("r")).toMatchObject({ status: "succeeded", text: "Done." });
    expect(at(2).readyState).toBe(2);
  });

  test("is closed while the tab is hidden for long, and then delivers what was missed", () => {
    const visibility = vi.spyOn(document, "visibilityState", "get");
    const become = (state: DocumentVisibilityState) => { visibility.mockReturnValue(state); document.dispatchEvent(new Event("visibilitychange")); };
    const live = make();
    live.opened = vi.fn();
    live.start();
    at(0).onopen?.();
    at(0).say("run-started", 7, {});
    become("hidden");
    vi.advanceTimersByTime(4000);
    become("visible");
    vi.advanceTimersByTime(60_000);
    expect([opened.length, at(0).readyState]).toEqual([1, 1]);
    become("hidden");
    vi.advanceTimersByTime(5000);
    expect([at(0).readyState, live.connection]).toEqual([2, "connecting"]);
    become("visible");
    at(1).onopen?.();
    expect(opened.map((s) => s.url)).toEqual(["/api/events", "/api/events?after=7", "/api/runs/r/events?after=0"]);
    expect(live.opened).toHaveBeenCalledTimes(2); // for the first time too: what was read before may lack events
  });

  test("tells listeners when a generation outside a run ends", () => {
    const live = make();
    live.connect();
    const heard: string[] = [];
    live.onEvent((e, root) => heard.push(`${e.name} ${root}`));
    at(0).say("operation-progress", "", { run_id: "", operation: "o", progress: 0.5 });
    at(0).say("operation-finished", "", { run_id: "", operation: "o" });
    expect(heard).toContain("operation-finished ");
  });

  test("forgets the preview of a sub-action when it ends, because a retry has the same id", () => {
    const live = make();
    live.connect();
    at(0).say("operation-partial", "", { metadata_id: "gm", output: { id: "m" } });
    expect(live.subActionProgress("gm").partial?.id).toBe("m");
    at(0).say("operation-finished", 2, { metadata_id: "gm" });
    expect(live.subActionProgress("gm")).toEqual({});
  });

  test("wakes its readers once a frame", () => {
    const live = make();
    const woken = vi.fn();
    live.subscribe(woken);
    live.connect();
    at(0).say("run-started", 1, {});
    for (let i = 0; i < 100; i++) at(0).say("message-delta", "", { text: "x".repeat(i) });
    vi.advanceTimersByTime(100);
    expect(woken).toHaveBeenCalledTimes(1);
    expect(live.run("r")?.text).toHaveLength(99);
  });
});

describe("a replay", () => {
  test("is asked for once, two at a time, and ends with its run", () => {
    const live = make();
    for (const run of ["a", "b", "c", "a"]) live.replay(run);
    expect(opened.map((s) => s.url)).toEqual(["/api/runs/a/events?after=0", "/api/runs/b/events?after=0"]);
    at(0).say("run-started", 1, { run_id: "a" });
    at(0).say("run-failed", 2, { run_id: "a" });
    expect(opened).toHaveLength(3);
  });

  test("ends when a run that goes on falls silent", () => {
    const live = make();
    live.replay("r");
    at(0).say("run-started", 1, {});
    vi.advanceTimersByTime(2000);
    expect(at(0).readyState).toBe(2);
    expect(live.run("r")?.status).toBe("running");
  });

  test("that fails is made again when it is asked for again, and when the connection is restored", () => {
    const live = make();
    live.connect();
    at(0).onopen?.();
    live.replay("r");
    at(1).onerror?.();
    live.replay("r");
    expect(opened.map((s) => s.url)).toEqual(["/api/events", "/api/runs/r/events?after=0", "/api/runs/r/events?after=0"]);
    at(2).onerror?.();
    at(0).onerror?.();
    at(0).onopen?.();
    expect(opened).toHaveLength(4);
    at(3).say("run-started", 1, {});
    at(3).say("run-succeeded", 2, {});
    at(3).onerror?.();
    live.replay("r");
    expect(opened).toHaveLength(4);
  });

  test("makes no noise for screen readers", () => {
    const live = make();
    const said = vi.fn();
    live.onEvent(said);
    live.replay("r");
    at(0).say("run-started", 1, {});
    expect(said).not.toHaveBeenCalled();
  });
});
