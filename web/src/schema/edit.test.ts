import { describe, expect, test } from "vitest";
import { applyDrafts, discardDrafts, failSave, finishSave, noEdits, recordChange, revert, startSave } from "./edit";
import type { JSONObject } from "./pointer";

const data: JSONObject = { prompts: { a: { subject: "sea", tags: ["x"] }, b: "text" } };
const a = "/prompts/a";

describe("edits", () => {
  test("are the smallest values that differ, and save as a patch", () => {
    let e = recordChange(noEdits, data, a, { subject: "lake", tags: ["x"], mood: "calm" });
    e = recordChange(e, data, "/prompts/b", "words");
    expect(applyDrafts(data, e.drafts)).toEqual({ prompts: { a: { subject: "lake", tags: ["x"], mood: "calm" }, b: "words" } });
    expect(startSave(e, data).operations).toEqual([
      { op: "replace", path: "/prompts/a/subject", value: "lake" }, { op: "add", path: "/prompts/a/mood", value: "calm" }, { op: "replace", path: "/prompts/b", value: "words" },
    ]);
    expect(startSave(recordChange(noEdits, data, a, { subject: "sea" }), data).operations).toEqual([{ op: "remove", path: "/prompts/a/tags" }]);
    expect(recordChange(noEdits, data, a, { tags: ["x"], subject: "sea" })).toBe(noEdits);
  });

  test("within a value that was removed and entered again are saved", () => {
    let e = recordChange(noEdits, data, a, null);
    e = recordChange(e, data, a, { subject: "lake", tags: [] });
    e = recordChange(e, data, a, { subject: "sea", tags: [] });
    expect(startSave(e, data).operations).toEqual([{ op: "replace", path: a, value: { subject: "lake", tags: [] } }, { op: "replace", path: "/prompts/a/subject", value: "sea" }]);
  });

  test("that were typed while others were saved stay drafts", () => {
    let e = startSave(recordChange(noEdits, data, "/prompts/b", "one"), data).edits;
    e = recordChange(e, data, "/prompts/b", "one two");
    expect([...finishSave(e).drafts]).toEqual([["/prompts/b", "one two"]]);
    expect([...finishSave(startSave(e, data).edits).drafts]).toEqual([]);
    expect([...failSave(startSave(e, data).edits).drafts]).toEqual([["/prompts/b", "one two"]]);
    expect([...discardDrafts(e, ["/prompts"]).drafts]).toEqual([]);
  });

  test("are undone by what was typed in one go, and done again", () => {
    let e = recordChange(noEdits, data, "/prompts/b", "w");
    e = recordChange(e, data, "/prompts/b", "words");
    e = recordChange(e, data, a, { subject: "lake", tags: ["x"] });
    e = revert(e, data, "undo");
    expect(applyDrafts(data, e.drafts)).toEqual({ prompts: { a: { subject: "sea", tags: ["x"] }, b: "words" } });
    e = revert(e, data, "undo");
    expect(applyDrafts(data, e.drafts)).toEqual(data);
    expect(startSave(e, data).operations).toEqual([]);
    e = revert(revert(e, data, "redo"), data, "redo");
    expect(applyDrafts(data, e.drafts)).toEqual({ prompts: { a: { subject: "lake", tags: ["x"] }, b: "words" } });
  });

  test("do not take back what another tab wrote since", () => {
    const e = finishSave(startSave(recordChange(noEdits, data, "/prompts/b", "mine"), data).edits);
    const theirs: JSONObject = { prompts: { a: { subject: "sea", tags: ["x"] }, b: "theirs" } };
    expect(applyDrafts(theirs, revert(e, theirs, "undo").drafts)).toEqual(theirs);
  });

  test("never reach what all objects share", () => {
    const e = recordChange(noEdits, data, a, JSON.parse('{"subject": "sea", "tags": ["x"], "__proto__": {"x": 1}}') as JSONObject);
    applyDrafts(data, e.drafts);
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});
