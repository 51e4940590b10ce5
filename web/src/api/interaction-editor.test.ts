import { expect, test, vi } from "vitest";
import type { Operation } from "../schema/edit";
import { get, pathOf, set } from "../schema/pointer";
import type { JSONObject } from "../schema/pointer";
import type { Change, Interaction } from "../schema/view";
import { ApiError } from "./client";
import { InteractionEditor } from "./interaction-editor";

/** A server with one interaction that two tabs edit. */
class Server {
  version = 1;
  data: JSONObject = { prompts: { a: { subject: "sea", mood: "calm" } } };
  private touched: [number, string][] = [];
  patches: Operation[][] = [];
  editors: InteractionEditor[] = [];

  interaction = async (): Promise<Interaction> => this.now();
  now = (): Interaction => ({
    workflow_run_id: "r", interaction_id: "i", interaction_type: "schema_with_sub_actions", title: "t", version: this.version, display_data: this.data, display_schema: {},
    view: { pointer: "", key: "", label: "", render_as: "key-value", type: "object", schema: "" },
  });
  edit = async (_: string, base: number, operations: Operation[]): Promise<Change> => {
    this.patches.push(operations);
    if (this.touched.some(([v, p]) => v > base && operations.some((o) => o.path === p))) throw new ApiError(412, "version", "a newer version has changed it");
    this.version++;
    for (const o of operations) {
      this.touched.push([this.version, o.path]);
      this.data = set(this.data, pathOf(o.path), o.value) as JSONObject;
    }
    return { version: this.version, patch: operations, changes: { nodes: [] } };
  };
  tab() { const d = new InteractionEditor(this.now(), this, 5); this.editors.push(d); return d; }
}

const subject = "/prompts/a/subject";
const seen = (d: InteractionEditor) => get(d.data(), pathOf(subject));

test("what is typed is saved once the typing pauses, as one patch", async () => {
  const s = new Server();
  const d = s.tab();
  for (const text of ["l", "la", "lake"]) d.edit("/prompts/a", { subject: text, mood: "calm" });
  expect([d.state.saveStatus, seen(d)]).toEqual(["typing", "lake"]);
  await vi.waitFor(() => expect(d.state.saveStatus).toBe("saved"));
  expect(s.patches).toEqual([[{ op: "replace", path: subject, value: "lake" }]]);
  d.undo();
  await d.flush();
  expect([seen(d), s.data]).toEqual(["sea", { prompts: { a: { subject: "sea", mood: "calm" } } }]);
});

test("edits of two tabs merge where they touch different fields", async () => {
  const s = new Server();
  const [one, two] = [s.tab(), s.tab()];
  one.edit(subject, "lake");
  two.edit("/prompts/a/mood", "wild");
  expect([await one.flush(), await two.flush()]).toEqual([true, true]);
  await vi.waitFor(() => expect(two.state.interaction.display_data).toEqual({ prompts: { a: { subject: "lake", mood: "wild" } } }));
});

test.each([[true, "mine"], [false, "theirs"]])("a conflict is shown and decided: mine %s gives %s", async (mine, want) => {
  const s = new Server();
  const [one, two] = [s.tab(), s.tab()];
  one.edit(subject, "theirs");
  await one.flush();
  two.edit("/prompts/a", { subject: "mine", mood: "wild" });
  expect(await two.flush()).toBe(false);
  expect([two.state.conflicts, seen(two), two.state.saveStatus]).toEqual([[subject], "mine", "failed"]);
  expect(s.data).toEqual({ prompts: { a: { subject: "theirs", mood: "wild" } } }); // the other field is saved
  await two.resolveConflicts([subject], mine);
  expect([two.state.conflicts, two.state.saveStatus, s.data]).toEqual([[], "saved", { prompts: { a: { subject: want, mood: "wild" } } }]);
});

test("a change that the stream delivers while the same value is being typed is a conflict, except the tab's own", async () => {
  const s = new Server();
  const [one, two] = [s.tab(), s.tab()];
  two.edit(subject, "mine");
  one.edit(subject, "theirs");
  await one.flush();
  two.applyChange({ version: 2, patch: s.patches[0] ?? [], changes: { nodes: [] } });
  expect([two.state.conflicts, await two.flush(), s.data]).toEqual([[subject], false, { prompts: { a: { subject: "theirs", mood: "calm" } } }]);
  await two.resolveConflicts([subject], true);
  const edit = s.edit;
  s.edit = async (...request) => {
    const c = await edit(...request);
    two.edit(subject, "mine, longer"); // typed before the event and the response arrive
    two.applyChange(c);
    return c;
  };
  two.edit(subject, "mine, new");
  await two.flush();
  s.edit = edit;
  expect([await two.flush(), two.state.conflicts, get(s.data, pathOf(subject))]).toEqual([true, [], "mine, longer"]);
});

test("conflicts are decided one by one", async () => {
  const s = new Server();
  const [one, two] = [s.tab(), s.tab()];
  one.edit("/prompts/a", { subject: "theirs", mood: "theirs" });
  await one.flush();
  two.edit("/prompts/a", { subject: "mine", mood: "mine" });
  await two.flush();
  await two.resolveConflicts([subject], true);
  expect([two.state.conflicts, s.data]).toEqual([["/prompts/a/mood"], { prompts: { a: { subject: "mine", mood: "theirs" } } }]);
  await two.resolveConflicts(["/prompts/a/mood"], false);
  expect([two.state.conflicts, two.state.saveStatus, two.data()]).toEqual([[], "saved", { prompts: { a: { subject: "mine", mood: "theirs" } } }]);
});

test("an edit that the server refuses stays typed, and is sent again with the next one", async () => {
  const s = new Server();
  const d = s.tab();
  const real = s.edit;
  d.edit(subject, "lake");
  s.edit = async () => { throw new ApiError(422, "invalid", "too short", "", false, [{ pointer: subject, detail: "too short" }]); };
  const broken = new InteractionEditor(s.now(), s, 5);
  broken.edit(subject, "x");
  expect([await broken.flush(), broken.state.error?.status, seen(broken)]).toEqual([false, 422, "x"]);
  s.edit = real;
  broken.edit(subject, "xyz");
  const again = new InteractionEditor(s.now(), s, 5);
  again.edit(subject, "xyz");
  expect([await again.flush(), broken.state.error]).toEqual([true, undefined]);
});

test("a saved edit whose response was lost is not a conflict", async () => {
  const s = new Server();
  const d = s.tab();
  const edit = s.edit;
  s.edit = async (...request) => { await edit(...request); throw new ApiError(0, "internal", "The server cannot be reached."); };
  d.edit(subject, "mine");
  expect([await d.flush(), d.state.saveStatus]).toEqual([false, "failed"]);
  s.edit = edit;
  d.edit("/prompts/a/mood", "wild");
  expect([await d.flush(), d.state.conflicts, d.state.saveStatus, s.data]).toEqual([true, [], "saved", { prompts: { a: { subject: "mine", mood: "wild" } } }]);
});

test("a read that is older than what the stream has delivered changes nothing", async () => {
  const s = new Server();
  const [one, two] = [s.tab(), s.tab()];
  one.edit(subject, "first");
  await one.flush();
  const read = s.interaction;
  s.interaction = async () => {
    s.interaction = read;
    const old = s.now();
    one.edit(subject, "second");
    await one.flush();
    two.replace(s.now()); // from the stream, while the older response is on its way
    return old;
  };
  two.edit("/prompts/a/mood", "wild"); // its response does not follow version 1, so the interaction is read
  await two.flush();
  expect(seen(two)).toBe("second");
});

test("edits that were not saved when the page was left are repeated, unless somebody else has changed the value", async () => {
  const s = new Server();
  s.edit = async () => { throw new ApiError(401, "unauthorized", "the access token has expired"); };
  const d = s.tab();
  d.edit("/prompts/a", { subject: "lake", mood: "wild" });
  await vi.waitFor(() => expect(d.state.saveStatus).toBe("failed"));
  const kept = JSON.parse(JSON.stringify(d.unsaved()));
  const after = new Server();
  after.data = { prompts: { a: { subject: "harbour", mood: "calm" } } };
  const again = after.tab();
  again.restore(kept);
  await vi.waitFor(() => expect(again.state.saveStatus).toBe("failed"));
  expect(after.data).toEqual({ prompts: { a: { subject: "harbour", mood: "wild" } } });
  expect([again.state.conflicts, seen(again)]).toEqual([[subject], "lake"]);
});
