import type { RJSFSchema } from "@rjsf/utils";
import { describe, expect, test } from "vitest";
import { answerSchema, buildUiSchema, controlKind } from "./form";
import { formErrors, serverErrors, validator } from "./validator";

const schema: RJSFSchema = {
  type: "object", required: ["style", "count"],
  properties: {
    style: { enum: ["Oil", "Ink"] }, count: { type: "integer", minimum: 1 }, signed: { type: "boolean" }, why: { type: "string", minLength: 5, maxLength: 2000 },
    where: { type: "array", uniqueItems: true, items: { enum: ["sea", "land"] } }, other: { type: "object" }, mood: { oneOf: [{ const: "a", title: "Calm" }] },
    paperSize: { type: "object", properties: { width_mm: { type: "number" } } },
  },
};

test("fields have the control of their type", () => {
  expect(Object.entries(schema.properties ?? {}).map(([key, f]) => [key, controlKind(f as RJSFSchema)])).toEqual([
    ["style", "choice"], ["count", "other"], ["signed", "other"], ["why", "long"], ["where", "choices"], ["other", "json"], ["mood", "choice"], ["paperSize", "other"],
  ]);
  const ui = buildUiSchema(schema);
  expect([ui["style"]["ui:widget"], ui["style"]["ui:title"], ui["paperSize"]["ui:title"], ui["paperSize"]["width_mm"]["ui:title"]]).toEqual(["radio", "Style", "Paper Size", "Width mm"]);
});

test.each([[undefined], [null], ["x"], [[]], [{}]])("a schema %j that cannot be read asks for a text", (s) => {
  expect(answerSchema(s)).toMatchObject({ type: "string", title: "Answer" });
});

describe("the validator", () => {
  test("names each place that does not fit, in words for people", () => {
    expect(formErrors(schema, { count: 0, why: "a", paperSize: { width_mm: "x" } }).map((e) => [e.property, e.message])).toEqual([
      [".style", "This field is required."], [".count", "Use 1 or more."], [".why", "Use at least 5 characters."], [".paperSize.width_mm", "Use a number."],
    ]);
    expect(formErrors(schema, { style: "Oil", count: 1 })).toEqual([]);
    const ratio: RJSFSchema = { properties: { ratio: { type: "string", pattern: "^\\d+:\\d+$", examples: ["16:9"] }, width: { type: "integer", multipleOf: 8 } } };
    expect(formErrors(ratio, { ratio: "16-9", width: 9 }).map((e) => e.message)).toEqual(["Write it like 16:9.", "Use a multiple of 8."]);
  });

  test("reads references of the whole schema", () => {
    const root: RJSFSchema = { $defs: { n: { type: "integer" } }, properties: { a: { $ref: "#/$defs/n" } } };
    expect([validator.isValid({ $ref: "#/$defs/n" }, 1, root), validator.isValid({ $ref: "#/$defs/n" }, "x", root)]).toEqual([true, false]);
    expect(formErrors(root, { a: "x" }).map((e) => e.property)).toEqual([".a"]);
  });

  test("runs where code cannot be compiled", () => {
    const real = globalThis.Function;
    globalThis.Function = (() => { throw new EvalError("refused by the policy"); }) as unknown as FunctionConstructor;
    try {
      expect(validator.validateFormData({}, schema).errors).toHaveLength(2);
    } finally {
      globalThis.Function = real;
    }
  });

  test("puts what the server found at its fields", () => {
    expect(serverErrors([{ pointer: "/answer/style", detail: "no such style" }, { pointer: "/answer/a~1b/0", detail: "bad" }, { pointer: "/answer/50%", detail: "too much" }, { pointer: "query/limit", detail: "not ours" }])).toMatchObject({
      style: { __errors: ["no such style"] }, "a/b": { 0: { __errors: ["bad"] } }, "50%": { __errors: ["too much"] },
    });
  });
});
