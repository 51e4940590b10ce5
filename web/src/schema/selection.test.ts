import { describe, expect, test } from "vitest";
import changeCases from "../../../workflow/testdata/changes.golden.json";
import seed from "../../../workflow/testdata/interaction.json";
import { availableContents, buildAnswer, groupsOf, isGroupFull, retainAvailable, selectionHint, toggle } from "./selection";
import type { Selection } from "./selection";
import type { Group, Interaction } from "./view";

const one: Group = { group: "default", mode: "single", min: 1, max: 1 };
const some: Group = { group: "variants", mode: "multiple", min: 2, max: 3 };

test("groups are those of the display schema, before any result is there", () => {
  expect(groupsOf(seed.display_schema)).toEqual([one]);
  expect(groupsOf({ $defs: { g: { _ux: { selectable: true, selection_mode: "multiple", selection_group: "variants", selection_min: 2, selection_max: 3 } } }, items: { $ref: "#/$defs/g" } })).toEqual([some]);
  expect(groupsOf({ _ux: { selectable: true, selection_optional: true } })).toEqual([{ ...one, min: 0 }]);
});

test("what is there to choose is read from the data", () => {
  const changes = changeCases as unknown as { before: Interaction; steps: { after: object }[] };
  expect(availableContents({ ...changes.before, ...changes.steps.at(-1)?.after })).toEqual({ default: ["gc_1", "gc_3", "gc_4", "gc_2"] });
});

describe("a choice", () => {
  test("of one takes the place of the one before", () => {
    let c: Selection = toggle({}, one, "a");
    c = toggle(c, one, "b");
    expect([c, selectionHint([one], c), buildAnswer([one], c)]).toEqual([{ default: ["b"] }, undefined, { selected_content_id: "b" }]);
    c = toggle(c, one, "b");
    expect([selectionHint([one], c), buildAnswer([one], c)]).toEqual(["Choose one result", { selected_content_id: null }]);
  });

  test("of several has a minimum and a maximum", () => {
    let c: Selection = toggle({}, some, "a");
    expect(selectionHint([some], {})).toBe("Choose at least 2");
    expect(selectionHint([some], c)).toBe("Choose 1 more");
    c = ["b", "c", "d"].reduce((all, id) => toggle(all, some, id), c);
    expect([c["variants"], isGroupFull(c, some), buildAnswer([some], c)]).toEqual([["a", "b", "c"], true, { selected_content_ids: ["a", "b", "c"] }]);
  });

  test("of several groups is by group", () => {
    expect(buildAnswer([one, some], { default: ["a"], variants: ["b", "c"] })).toEqual({ selected: { default: "a", variants: ["b", "c"] } });
    expect(selectionHint([one, some], { default: ["a"] })).toBe("Choose at least 2 of variants");
    expect(buildAnswer([], {})).toEqual({});
  });

  test("forgets what is not there any more", () => {
    expect(retainAvailable({ default: ["a", "b"], gone: ["c"] }, { default: ["b"] })).toEqual({ default: ["b"], gone: [] });
  });
});
