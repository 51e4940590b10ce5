import { expect, test } from "vitest";
import { paramLayout } from "./params";
import type { SubAction } from "./view";

const action = { params: { chaos: 3 } } as unknown as SubAction;

test("a few parameters stand two in a row; up to three choices are all in sight", () => {
  const schema = { properties: { speed: { enum: ["fast", "relax"] }, mood: { enum: [1, 2, 3, 4] }, free: { type: "string" } } };
  expect(paramLayout(action, schema)).toEqual([
    { kind: "row", fields: [{ field: "speed", span: 6, widget: "radio" }, { field: "mood", span: 6, widget: "select" }] },
    { kind: "row", fields: [{ field: "free", span: 6 }] },
  ]);
});

test("of many, those that are not usual and have no default are folded", () => {
  const names = ["weird", "seed", "chaos", "a", "b", "c", "d", "e", "f"];
  const [shown, more] = paramLayout(action, { properties: Object.fromEntries(names.map((n) => [n, {}])) });
  expect(shown?.fields?.map((f) => f.field)).toEqual(["seed", "chaos"]);
  expect(more).toMatchObject({ kind: "section", folded: true });
  expect(more?.blocks?.flatMap((b) => b.fields?.map((f) => f.field))).toEqual(["weird", "a", "b", "c", "d", "e", "f"]);
});
