// The appearance of a JSON Schema's form: titles, and the control of each field.
import type { RJSFSchema, UiSchema } from "@rjsf/utils";

/** Returns the schema of a question, or the schema of a text if it is missing, empty or not an object. */
export function answerSchema(schema: unknown): RJSFSchema {
  if (typeof schema === "object" && schema !== null && !Array.isArray(schema) && Object.keys(schema).length > 0) return schema as RJSFSchema;
  return { type: "string", title: "Answer", minLength: 1 };
}

/** The controls of a schema's fields: up to six choices are radio buttons, long texts have a text area, and
 * values that no control fits are written as JSON. */
export function buildUiSchema(schema: RJSFSchema, key = ""): UiSchema {
  const ui: UiSchema = {};
  if (!schema.title && key) ui["ui:title"] = titleOf(key);
  if (!schema.title && !key && !schema.properties) ui["ui:title"] = "Answer";
  const kind = controlKind(schema);
  if (kind === "choice") ui["ui:widget"] = choiceCount(schema) <= 6 ? "radio" : "select";
  if (kind === "choices") ui["ui:widget"] = "checkboxes";
  if (kind === "long") Object.assign(ui, { "ui:widget": "textarea", "ui:options": { autosize: true, minRows: 2, maxRows: 10 } });
  if (kind === "json") ui["ui:field"] = "json";
  if (schema.description && (ui["ui:widget"] || ui["ui:field"])) ui["ui:description"] = schema.description;
  for (const [name, field] of Object.entries(schema.properties ?? {})) if (typeof field === "object") ui[name] = buildUiSchema(field as RJSFSchema, name);
  if (kind === "list") ui.items = buildUiSchema(schema.items as RJSFSchema, "item");
  return ui;
}

/** The schema with titles for fields of any value, because the form omits fields with an empty schema. */
export function withTitles(s: RJSFSchema, key = ""): RJSFSchema {
  if (key && Object.keys(s).length === 0) return { title: titleOf(key) };
  if (!s.properties) return s;
  return { ...s, properties: Object.fromEntries(Object.entries(s.properties).map(([name, field]) => [name, typeof field === "object" ? withTitles(field as RJSFSchema, name) : field])) };
}

export function controlKind(s: RJSFSchema): "choice" | "choices" | "long" | "json" | "list" | "other" {
  if (choiceCount(s) > 0) return "choice";
  const type = Array.isArray(s.type) ? s.type.find((t) => t !== "null") : s.type;
  const items = s.items as RJSFSchema | undefined;
  if (type === "array" && items && typeof items === "object") return choiceCount(items) > 0 && s.uniqueItems ? "choices" : "list";
  if (type === "string") return (s.maxLength ?? 0) > 200 ? "long" : "other";
  const open = (type === undefined && !s.$ref && !s.oneOf && !s.anyOf && !s.allOf) || type === "array" || type === "object";
  return open && !s.properties && !s.additionalProperties ? "json" : "other";
}

function choiceCount(s: RJSFSchema): number {
  const constants = (s.oneOf ?? []).filter((o) => typeof o === "object" && o.const !== undefined);
  return s.enum?.length ?? constants.length;
}

function titleOf(key: string): string {
  const text = key.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
