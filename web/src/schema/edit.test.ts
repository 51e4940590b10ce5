import { describe, expect, test } from "vitest";
import { change, dropped, noEdits, refused, revert, saved, send, shown } from "./edit";
import type { JSONObject } from "./pointer";

const data: JSONObject = { prompts: { a: { subject: "sea", tags: ["x"] }, b: "text" } };
const a = "/prompts/a";

describe("edits", () => {
  test("are the smallest values that differ, and save as a patch", () => {
    let e = change(noEdits, data, a, { subject: "lake", tags: ["x"], mood: "calm" });
    e = change(e, data, "/prompts/b", "words");
    expect(shown(data, e.drafts)).toEqual({ prompts: { a: { subject: "lake", tags: ["x"], mood: "calm" }, b: "words" } });
    expect(send(e, data).operations).toEqual([
      { op: "replace", path: "/prompts/a/subject", value: "lake" }, { op: "add", path: "/prompts/a/mood", value: "calm" }, { op: "replace", path: "/prompts/b", value: "words" },
    ]);
    expect(send(change(noEdits, data, a, { subject: "sea" }), data).operations).toEqual([{ op: "remove", path: "/prompts/a/tags" }]);
    expect(change(noEdits, data, a, { tags: ["x"], subject: "sea" })).toBe(noEdits);
  });

  test("that were typed while others were saved stay drafts", () => {
    let e = send(change(noEdits, data, "/prompts/b", "one"), data).edits;
    e = change(e, data, "/prompts/b", "one two");
    expect([...saved(e).drafts]).toEqual([["/prompts/b", "one two"]]);
    expect([...saved(send(e, data).edits).drafts]).toEqual([]);
    expect([...refused(send(e, data).edits).drafts]).toEqual([["/prompts/b", "one two"]]);
    expect([...dropped(e, ["/prompts"]).drafts]).toEqual([]);
  });

  test("are undone by what was typed in one go, and done again", () => {
    let e = change(noEdits, data, "/prompts/b", "w");
    e = change(e, data, "/prompts/b", "words");
    e = change(e, data, a, { subject: "lake", tags: ["x"] });
    e = revert(e, data, "undo");
    expect(shown(data, e.drafts)).toEqual({ prompts: { a: { subject: "sea", tags: ["x"] }, b: "words" } });
    e = revert(e, data, "undo");
    expect(shown(data, e.drafts)).toEqual(data);
    expect(send(e, data).operations).toEqual([]);
    e = revert(revert(e, data, "redo"), data, "redo");
    expect(shown(data, e.drafts)).toEqual({ prompts: { a: { subject: "lake", tags: ["x"] }, b: "words" } });
  });

  test("do not take back what another tab wrote since", () => {
    const e = saved(send(change(noEdits, data, "/prompts/b", "mine"), data).edits);
    const theirs: JSONObject = { prompts: { a: { subject: "sea", tags: ["x"] }, b: "theirs" } };
    expect(shown(theirs, revert(e, theirs, "undo").drafts)).toEqual(theirs);
  });

  test("never reach what all objects share", () => {
    const e = change(noEdits, data, a, JSON.parse('{"subject": "sea", "tags": ["x"], "__proto__": {"x": 1}}') as JSONObject);
    shown(data, e.drafts);
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});
