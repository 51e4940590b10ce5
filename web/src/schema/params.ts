// The parameters that a person set for a sub-action; those of a provider are remembered.
import type { Block, Field } from "./layout";
import { equal, isObject } from "./pointer";
import type { JSONObject } from "./pointer";
import type { SubAction } from "./view";

/** The schema of the parameters that a card's own form does not have, undefined if there are none. */
export function paramSchema(a: SubAction, data: unknown): JSONObject | undefined {
  const all = a.param_schema?.["properties"];
  if (!a.param_schema || !isObject(all)) return undefined;
  const own = isObject(data) ? Object.keys(data) : [];
  const properties = Object.fromEntries(Object.entries(all).filter(([name]) => !own.includes(name)));
  const required = Array.isArray(a.param_schema["required"]) ? a.param_schema["required"].filter((r) => typeof r === "string" && r in properties) : [];
  return Object.keys(properties).length > 0 ? { ...a.param_schema, properties, ...(required.length > 0 ? { required } : { required: [] }) } : undefined;
}

const few = 8; // parameters that are all in sight
const usual = ["model", "aspect_ratio", "size", "width", "height", "n", "num_images", "quality", "style", "negative_prompt", "seed"];

/** Two parameters in a row; of many, those that are not usual and have no default are folded. */
export function paramLayout(a: SubAction, schema: JSONObject): Block[] {
  const all = Object.entries(schema["properties"] as JSONObject);
  const first = all.filter(([name]) => all.length <= few || name in a.params || usual.includes(name));
  const more = all.filter((p) => !first.includes(p));
  return [...pairs(first), ...(more.length > 0 ? [{ kind: "section" as const, title: "More parameters", folded: true, blocks: pairs(more) }] : [])];
}

function pairs(params: [string, unknown][]): Block[] {
  const fields = params.map(([field, s]): Field => ({ field, span: 6, ...choice(s) }));
  return Array.from({ length: Math.ceil(fields.length / 2) }, (_, i) => ({ kind: "row", fields: fields.slice(2 * i, 2 * i + 2) }));
}

/** Up to three choices are all in sight. */
function choice(s: unknown): { widget?: string } {
  const of = isObject(s) && s["type"] !== "array" ? (s["enum"] ?? s["oneOf"]) : undefined;
  return Array.isArray(of) ? { widget: of.length <= 3 ? "radio" : "select" } : {};
}

/** The parameters that a form shows: what was set over what they are before. */
export function paramsOf(a: SubAction, schema: JSONObject, set: JSONObject): JSONObject {
  const names = Object.keys(schema["properties"] as JSONObject);
  return Object.fromEntries(names.flatMap((n) => { const v = set[n] ?? a.params[n]; return v === undefined ? [] : [[n, v]]; }));
}

/** What differs from what the parameters are before; null is one that was taken away. */
export function changedParams(a: SubAction, schema: JSONObject, value: JSONObject): JSONObject {
  const names = Object.keys(schema["properties"] as JSONObject);
  return Object.fromEntries(names.flatMap((n) => (equal(value[n], a.params[n]) || value[n] === undefined ? [] : [[n, value[n]]])));
}
