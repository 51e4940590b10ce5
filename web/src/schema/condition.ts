// Conditions of a display schema, evaluated on the values of a form's fields. They contain no code.
import { equal, get, isObject, pathOf } from "./pointer";

export interface Condition {
  all?: Condition[];
  any?: Condition[];
  not?: Condition;
  /** A name, or a JSON pointer into the form's value. */
  field?: string;
  equals?: unknown;
  not_equals?: unknown;
  in?: unknown[];
  not_in?: unknown[];
  exists?: boolean;
  min?: number;
  max?: number;
}

/** Reports whether a form's value meets a condition. A missing condition always holds. */
export function matches(c: Condition | undefined, data: unknown): boolean {
  if (!c) return true;
  if (c.all) return c.all.every((e) => matches(e, data));
  if (c.any) return c.any.some((e) => matches(e, data));
  if (c.not) return !matches(c.not, data);
  const v = get(data, pathOf(c.field ?? ""));
  return matchesValue(c, v, v !== undefined);
}

function matchesValue(c: Condition, v: unknown, exists: boolean): boolean {
  if ("equals" in c) return exists && equal(v, c.equals);
  if ("not_equals" in c) return !exists || !equal(v, c.not_equals);
  if (c.in) return exists && c.in.some((e) => equal(e, v));
  if (c.not_in) return !exists || !c.not_in.some((e) => equal(e, v));
  if (c.exists !== undefined) return exists === c.exists;
  if (c.min !== undefined) return typeof v === "number" && v >= c.min;
  if (c.max !== undefined) return typeof v === "number" && v <= c.max;
  return exists && !isEmpty(v);
}

/** Reports whether a value is empty: undefined, null, false, blank text, an empty list or object. */
function isEmpty(v: unknown): boolean {
  if (v === null || v === undefined || v === false) return true;
  if (typeof v === "string") return v.trim() === "";
  if (Array.isArray(v)) return v.length === 0;
  return isObject(v) && Object.keys(v).length === 0;
}
