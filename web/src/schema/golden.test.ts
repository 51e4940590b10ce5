// The cases that the Go tests also run: conditions, layouts, values and changes of an interaction.
import type { RJSFSchema } from "@rjsf/utils";
import { describe, expect, test } from "vitest";
import valueCases from "../../../workflow/conform/testdata/values.json";
import conditionCases from "../../../workflow/schema/testdata/conditions.json";
import layoutCases from "../../../workflow/schema/testdata/layouts.json";
import changeCases from "../../../workflow/testdata/changes.golden.json";
import { matches } from "./condition";
import type { Condition } from "./condition";
import { LayoutError, arrange } from "./layout";
import { equal } from "./pointer";
import { validationErrors } from "./validator";
import { applyChange } from "./view";
import type { Change, Interaction, Node } from "./view";
import type { JSONObject } from "./pointer";

const conditions = conditionCases as unknown as { value: unknown; cases: { when: Condition; holds: boolean }[] };
test.each(conditions.cases)("condition $when", (c) => expect(matches(c.when, conditions.value)).toBe(c.holds));

const layouts = layoutCases as unknown as { cases: { fields: string[]; layout: unknown; blocks?: unknown; error?: string }[] };
test.each(layouts.cases)("layout $layout", (c) => {
  if (c.error === undefined) return expect(arrange(c.fields, c.layout)).toEqual(c.blocks);
  try {
    arrange(c.fields, c.layout);
  } catch (e) {
    return expect((e as LayoutError).pointer).toBe(c.error);
  }
  throw new Error("taken");
});

const values = valueCases as unknown as { cases: { schema: RJSFSchema; value: unknown; wrong: string[] }[] };
test.each(values.cases)("value $value of $schema", (c) => expect([...new Set(validationErrors(c.schema, c.value).map((f) => f.pointer))]).toEqual(c.wrong));

interface Step extends Change { after: { display_data: JSONObject; view: Node } }
const changes = changeCases as unknown as { before: Interaction; steps: Step[] };

describe("the changes of an interaction", () => {
  test("give what the server has, one after the other", () => {
    let now: Interaction | undefined = changes.before;
    for (const s of changes.steps) {
      now = now && applyChange(now, s);
      expect(now?.version).toBe(s.version);
      expect(equal(now?.display_data, s.after.display_data)).toBe(true);
      expect(now?.view).toEqual(s.after.view);
    }
  });

  test("that are known change nothing, and those that miss one before are refused", () => {
    const [first, second] = changes.steps;
    if (!first || !second) throw new Error("no steps");
    const after = applyChange(changes.before, first);
    expect(after && applyChange(after, first)).toBe(after);
    expect(applyChange(changes.before, second)).toBeUndefined();
  });
});
