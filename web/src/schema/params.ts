// The parameters of a sub-action: their schema, their layout and the values that a person set.
import type { Block, Field } from "./layout";
import { equal, isObject } from "./pointer";
import type { JSONObject } from "./pointer";
import type { SubAction } from "./view";

/** Returns the schema of the parameters that the card's own form lacks; undefined if there are none. */
export function paramSchema(a: SubAction, data: unknown): JSONObject | undefined {
  const all = a.param_schema?.["properties"];
  if (!a.param_schema || !isObject(all)) return undefined;
  const own = isObject(data) ? Object.keys(data) : [];
  const properties = Object.fromEntries(Object.entries(all).filter(([name]) => !own.includes(name)));
  const required = Array.isArray(a.param_schema["required"]) ? a.param_schema["required"].filter((r) => typeof r === "string" && r in properties) : [];
  return Object.keys(properties).length > 0 ? { ...a.param_schema, properties, ...(required.length > 0 ? { required } : { required: [] }) } : undefined;
}

const maxVisible = 8; // up to this number, all parameters are visible
const commonParams = ["model", "aspect_ratio", "size", "width", "height", "n", "num_images", "quality", "style", "negative_prompt", "seed"];

/** Arranges two parameters per row. If there are more than a few, unusual ones without a default are folded. */
export function paramLayout(a: SubAction, schema: JSONObject): Block[] {
  const all = Object.entries(schema["properties"] as JSONObject);
  const visible = all.filter(([name]) => all.length <= maxVisible || name in a.params || commonParams.includes(name));
  const folded = all.filter((p) => !visible.includes(p));
  return [...pairRows(visible), ...(folded.length > 0 ? [{ kind: "section" as const, title: "More parameters", folded: true, blocks: pairRows(folded) }] : [])];
}

function pairRows(params: [string, unknown][]): Block[] {
  const fields = params.map(([field, s]): Field => ({ field, span: 6, ...choiceWidget(s) }));
  return Array.from({ length: Math.ceil(fields.length / 2) }, (_, i) => ({ kind: "row", fields: fields.slice(2 * i, 2 * i + 2) }));
}

/** Up to three choices are radio buttons; more are a select. */
function choiceWidget(s: unknown): { widget?: string } {
  const options = isObject(s) && s["type"] !== "array" ? (s["enum"] ?? s["oneOf"]) : undefined;
  return Array.isArray(options) ? { widget: options.length <= 3 ? "radio" : "select" } : {};
}

/** The parameters that a form shows: the values that were set, over the initial ones. */
export function currentParams(a: SubAction, schema: JSONObject, set: JSONObject): JSONObject {
  const names = Object.keys(schema["properties"] as JSONObject);
  return Object.fromEntries(names.flatMap((n) => { const v = set[n] ?? a.params[n]; return v === undefined ? [] : [[n, v]]; }));
}

/** The parameters that differ from their initial values. Missing ones are left out. */
export function changedParams(a: SubAction, schema: JSONObject, value: JSONObject): JSONObject {
  const names = Object.keys(schema["properties"] as JSONObject);
  return Object.fromEntries(names.flatMap((n) => (equal(value[n], a.params[n]) || value[n] === undefined ? [] : [[n, value[n]]])));
}
