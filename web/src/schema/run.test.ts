import { describe, expect, test } from "vitest";
import recorded from "../../test/recorded/research.jsonl?raw";
import { parseEvent } from "./event";
import type { EventName, Payload, RunEvent } from "./event";
import { addEvent, newLog } from "./log";
import type { RunLog } from "./log";
import { newRun, reduceRun } from "./run";

const at = "2026-11-22T10:00:00Z";
const e = (id: number | undefined, name: EventName, data: Partial<Payload> = {}): RunEvent => ({ ...(id !== undefined && { id }), name, data: { run_id: "r", at, ...data } });
const fold = (events: RunEvent[]) => events.reduce(addEvent, newLog("r"));

const real: RunEvent[] = recorded.trim().split("\n").map((line) => {
  const { id, name, data } = JSON.parse(line) as { id: number; name: string; data: Payload };
  const event = parseEvent(name, String(id), JSON.stringify(data));
  if (!event) throw new Error(line);
  return event;
});

const drawing = [
  e(1, "run-started", { agent: "sage", name: "Sage", task: "Draw" }),
  e(2, "turn-started", { turn: 1, model: "offline" }),
  e(3, "turn-finished", { turn: 1, actions: ["Generate Image"], input_tokens: 10, output_tokens: 2 }),
  e(4, "action-started", { step_id: "s", name: "Generate Image", turn: 1 }),
];

describe("a recorded run", () => {
  const run = real.reduce(reduceRun, newRun("id-001"));
  test("ends with its answer, its cost and its pictures", () => {
    expect(run.status).toBe("succeeded");
    expect(run.text).toMatch(/^The net generation/);
    expect(run.usage?.input_tokens).toBe(42890);
    expect(run.promoted).toHaveLength(3);
    expect(run.promoted.every((r) => run.media[r])).toBe(true);
  });
  test("has its steps under their sub-agents, all ended", () => {
    expect(run.steps).toHaveLength(9);
    const agents = run.steps.filter((s) => s.kind === "agent");
    expect(agents.map((s) => s.name)).toEqual(["File Research Agent", "Research Report Writer"]);
    for (const s of run.steps) expect(s.status).toBe("succeeded");
    expect(run.steps.filter((s) => s.runId === agents[0]?.childRunId)).toHaveLength(4);
  });
});

describe("a log", () => {
  test("is the same in any order and with repeats", () => {
    const straight = real.filter((x) => x.id !== undefined).reduce(addEvent, newLog("id-001"));
    const mixed = [...real].sort((a, b) => ((a.id ?? 0) * 7) % 13 - ((b.id ?? 0) * 7) % 13);
    const other = [...mixed, ...mixed].filter((x) => x.id !== undefined).reduce(addEvent, newLog("id-001"));
    expect(other.events.map((x) => x.id)).toEqual(straight.events.map((x) => x.id));
    expect(other.state).toEqual(straight.state);
  });
  test("gives the same object for an event that it has", () => {
    const log = fold(drawing);
    expect(addEvent(log, drawing[1] as RunEvent)).toBe(log);
  });
  test("keeps text and progress when something older comes late", () => {
    let log: RunLog = fold([drawing[0], drawing[3]] as RunEvent[]);
    log = addEvent(log, e(undefined, "message-delta", { text: "Half a sen" }));
    log = addEvent(log, e(undefined, "operation-progress", { step_id: "s", note: "30 %" }));
    log = addEvent(log, e(2, "turn-started", { turn: 1 }));
    expect(log.state.text).toBe("Half a sen");
    expect(log.state.steps[0]?.note).toBe("30 %");
  });
  test("takes back a withdrawn text, although the browser gives that event the id of the previous one", () => {
    let log: RunLog = fold(drawing);
    log = addEvent(log, e(undefined, "message-delta", { text: "It is do" }));
    const withdrawn = parseEvent("message-withdrawn", "4", '{"run_id":"r","turn":1}');
    log = withdrawn ? addEvent(log, withdrawn) : log;
    expect(log.state.text).toBe("");
  });
  test("takes no delta after the end", () => {
    let log = fold([...drawing, e(9, "run-succeeded", { message: "Whole." })]);
    log = addEvent(log, e(undefined, "message-delta", { text: "Who" }));
    expect(log.state.text).toBe("Whole.");
  });
});

describe("a run", () => {
  test("replaces its text by each delta", () => {
    const run = [...drawing, e(undefined, "message-delta", { text: "A" }), e(undefined, "message-delta", { text: "A b" })].reduce(reduceRun, newRun("r"));
    expect(run.text).toBe("A b");
  });
  test("that is stopped has no step that runs, and keeps its text", () => {
    const run = [...drawing, e(undefined, "message-delta", { text: "I began" }), e(5, "run-cancelled", { message: "" })].reduce(reduceRun, newRun("r"));
    expect([run.status, run.text, run.steps[0]?.status]).toEqual(["cancelled", "I began", "cancelled"]);
  });
  test("says why it failed", () => {
    expect(reduceRun(newRun("r"), e(1, "run-failed", { error: { code: "unavailable", message: "503" } })).failure?.message).toBe("503");
  });
  test("that was resumed asks nothing and has not ended", () => {
    const run = [...drawing, e(5, "run-paused", { questions: [{ id: "q", question: "Which?" }] })].reduce(reduceRun, newRun("r"));
    expect([run.status, run.questions.length]).toEqual(["paused", 1]);
    const on = reduceRun(run, e(6, "run-resumed"));
    expect([on.status, on.questions.length, on.endedAt, on.task]).toEqual(["running", 0, undefined, "Draw"]);
  });
  test("leaves its parent's end to its parent", () => {
    expect(reduceRun(newRun("r"), e(1, "run-succeeded", { run_id: "child", message: "x" })).status).toBeUndefined();
  });
  test("shows a preview until the picture is there", () => {
    const output = { id: "m", ref: "img-1", modality: "image" as const, mime_type: "image/png" };
    const run = [...drawing, e(undefined, "operation-partial", { step_id: "s", output })].reduce(reduceRun, newRun("r"));
    expect(run.steps[0]?.partial?.id).toBe("m");
    const done = [e(5, "media-stored", { output }), e(6, "action-finished", { step_id: "s", success: true, refs: ["img-1"] })].reduce(reduceRun, run);
    expect([done.steps[0]?.status, done.steps[0]?.refs, done.media["img-1"]?.id]).toEqual(["succeeded", ["img-1"], "m"]);
  });
});

describe("an event that is read", () => {
  test.each([["made-up", "1", "{}"], ["warning", "1", "{"], ["warning", "1", "null"], ["warning", "1", "[1]"]])("is nothing when it is %s %s %s", (name, id, text) => {
    expect(parseEvent(name, id, text)).toBeUndefined();
  });
  test("has no place when it is transient, whatever id the browser repeats", () => {
    expect(parseEvent("message-delta", "7", '{"run_id":"r","text":"x"}')?.id).toBeUndefined();
    expect(parseEvent("warning", "7", '{"run_id":"r"}')?.id).toBe(7);
  });
});
