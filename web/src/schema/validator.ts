// Validates forms without compiling code: the page's policy forbids eval, which RJSF's own validator needs.
// The messages are written for people.
import { Validator } from "@cfworker/json-schema";
import type { OutputUnit, Schema } from "@cfworker/json-schema";
import { toErrorSchema, validationDataMerge } from "@rjsf/utils";
import type { ErrorSchema, RJSFSchema, RJSFValidationError, ValidatorType } from "@rjsf/utils";
import type { FieldError } from "../api/contract";
import { pathOf, pointerOf } from "./pointer";

/** Keywords whose errors only say that a nested value is invalid. */
const wrapperKeywords = new Set(["properties", "items", "prefixItems", "additionalProperties", "allOf", "anyOf", "oneOf", "if", "then", "else", "$ref", "dependentSchemas"]);

function validate(schema: RJSFSchema, data: unknown, root: RJSFSchema): OutputUnit[] {
  const whole = { ...(root.$defs && { $defs: root.$defs }), ...(root.definitions && { definitions: root.definitions }), ...schema };
  return new Validator(whole as Schema, "2020-12", false).validate(JSON.parse(JSON.stringify(data ?? null)) as object).errors;
}

/** An error of a value, at the value itself or at the object that lacks a required one. */
interface ValidationError { pointer: string; keyword: string; message: string; missing?: string }

/** Returns the errors of a value with their pointers. */
export function validationErrors(schema: RJSFSchema, data: unknown): ValidationError[] {
  const all = closestAlternatives(validate(schema, data, schema));
  const inner = all.filter((u) => !wrapperKeywords.has(u.keyword));
  return (inner.length > 0 ? inner : all).map((u) => {
    const missing = u.keyword === "required" ? /"(.+)"/.exec(u.error)?.[1] : undefined;
    return { pointer: pointerOf(pointerSegments(u.instanceLocation)), keyword: u.keyword, message: errorMessage(u, schema), ...(missing && { missing }) };
  });
}

/** The errors of a value in the format of forms. A missing value is an error of its own field. */
export function formErrors(schema: RJSFSchema, data: unknown): RJSFValidationError[] {
  return validationErrors(schema, data).map(({ pointer, keyword, message, missing }) => {
    return { name: keyword, ...formError([...pathOf(pointer), ...(missing ? [missing] : [])], message) };
  });
}

/** Of the errors of a oneOf's or anyOf's alternatives, keeps only those of the alternative closest to the
 * value: the one that accepts its type and reports the fewest errors. */
function closestAlternatives(all: OutputUnit[], from = 0): OutputUnit[] {
  const choices = all.flatMap((u) => /^.*?\/(oneOf|anyOf)(?=\/\d)/.exec(u.keywordLocation.slice(from))?.[0] ?? []);
  if (choices[0] === undefined) return all;
  const choice = (all[0]?.keywordLocation.slice(0, from) ?? "") + choices[0];
  const within = (u: OutputUnit) => u.keywordLocation.startsWith(`${choice}/`);
  const place = all.find((u) => u.keywordLocation === choice)?.instanceLocation;
  const branches = new Map<string, OutputUnit[]>();
  for (const u of all.filter(within)) {
    const n = u.keywordLocation.slice(choice.length + 1).split("/", 1)[0] ?? "";
    branches.set(n, [...(branches.get(n) ?? []), u]);
  }
  const distance = (units: OutputUnit[]) => units.filter((u) => !wrapperKeywords.has(u.keyword)).length + (units.some((u) => u.keyword === "type" && u.instanceLocation === place) ? 10_000 : 0);
  const [best = []] = [...branches].map(([n, units]) => closestAlternatives(units, choice.length + 1 + n.length)).sort((a, b) => distance(a) - distance(b));
  return [...closestAlternatives(all.filter((u) => !within(u)), from), ...best];
}

/** The keys of a location of the validator: a JSON pointer as the fragment of a URI. */
function pointerSegments(pointer: string): string[] {
  return pointer.replace(/^#?\/?/, "").split("/").filter(Boolean).map((s) => decodeURIComponent(s).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(schema: unknown, pointer: string): unknown {
  return pointerSegments(pointer).reduce<unknown>((s, step) => (s as Record<string, unknown> | undefined)?.[step], schema);
}

function errorMessage(u: OutputUnit, schema: unknown): string {
  const limit = valueAt(schema, u.keywordLocation);
  const examples = valueAt(schema, u.keywordLocation.replace(/\/pattern$/, "/examples"));
  switch (u.keyword) {
    case "required": return "This field is required.";
    case "minLength": return limit === 1 ? "This field is required." : `Use at least ${String(limit)} characters.`;
    case "maxLength": return `Use at most ${String(limit)} characters.`;
    case "minimum": return `Use ${String(limit)} or more.`;
    case "maximum": return `Use ${String(limit)} or less.`;
    case "minItems": return limit === 1 ? "Choose at least one." : `Give at least ${String(limit)}.`;
    case "maxItems": return `Give at most ${String(limit)}.`;
    case "type": return limit === "integer" ? "Use a whole number." : limit === "number" ? "Use a number." : "This field is required.";
    case "enum": case "const": return "Choose one of the options.";
    case "multipleOf": return `Use a multiple of ${String(limit)}.`;
    case "pattern": return Array.isArray(examples) ? `Write it like ${String(examples[0])}.` : "This does not have the required format.";
    case "format": return `This is not a valid ${String(limit)}.`;
    default: return u.error;
  }
}

/** The error of the field at a path, in the format of forms. */
export function formError(path: string[], message: string): RJSFValidationError {
  return { property: path.map((s) => `.${s}`).join(""), message, stack: message };
}

/** The server's errors as errors of the form. Its pointers start at the request; only those under /answer count. */
export function serverErrors(fieldErrors: FieldError[]): ErrorSchema {
  return toErrorSchema(fieldErrors.filter((f) => f.pointer.startsWith("/answer")).map((f) => formError(pathOf(f.pointer).slice(1), f.detail)));
}

export const validator: ValidatorType = {
  isValid: (schema, data, root) => validate(schema as RJSFSchema, data, root as RJSFSchema).length === 0,
  rawValidation: (schema, data) => ({ errors: validate(schema as RJSFSchema, data, schema as RJSFSchema) as never[] }),
  validateFormData: (data, schema, _custom, transform, ui) => {
    const found = formErrors(schema as RJSFSchema, data);
    const errors = transform ? transform(found, ui) : found;
    return validationDataMerge({ errors, errorSchema: toErrorSchema(errors) });
  },
};
