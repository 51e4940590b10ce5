// The input of each field in a workflow's form, chosen by the layout, otherwise by the schema.
import type { RJSFSchema, UiSchema } from "@rjsf/utils";
import { buildUiSchema, controlKind } from "./form";
import type { Block, Field } from "./layout";

const widgets: Record<string, UiSchema> = {
  text: { "ui:widget": "text" }, textarea: { "ui:widget": "textarea" }, number: { "ui:widget": "updown" }, slider: { "ui:widget": "slider" }, select: { "ui:widget": "select" },
  radio: { "ui:widget": "radio", "ui:options": { inline: true } }, checkbox: { "ui:widget": "checkbox" }, "multi-select": { "ui:widget": "multi" }, color: { "ui:widget": "color" }, json: { "ui:field": "json" },
  media: { "ui:widget": "media" }, hidden: { "ui:widget": "hidden" },
};

/** The inputs of a form. A layout arranges the outermost fields. */
export function buildFormUiSchema(schema: RJSFSchema, layout?: Block[], label?: string): UiSchema {
  const ui = refineUiSchema(schema, buildUiSchema(schema));
  if (label !== undefined) ui["ui:title"] = label;
  if (!layout) return ui;
  for (const f of fieldsOf(layout)) {
    ui[f.field] = { ...(ui[f.field] as UiSchema | undefined), ...(f.widget && widgetOf(f.widget, schema.properties?.[f.field])), ...(f.help && { "ui:help": f.help }) };
  }
  return { ...ui, "ui:options": { ...ui["ui:options"], blocks: layout } };
}

function fieldsOf(blocks: Block[]): Field[] {
  return blocks.flatMap((b) => [...(b.fields ?? []), ...fieldsOf(b.blocks ?? [])]);
}

function widgetOf(name: string, schema: unknown): UiSchema {
  const ui = widgets[name] ?? {};
  if (name === "textarea") return { ...ui, "ui:options": textareaOptions };
  if (name === "media" || name === "multi-select" || name === "json") return { "ui:widget": undefined, ...ui };
  return typeof schema === "object" && (schema as RJSFSchema).type === "array" ? {} : ui;
}

const textareaOptions = { autosize: true, minRows: 1, maxRows: 16 };

/** Text inputs grow with their text and may be empty. Media, colors and lists of choices have their own inputs. */
function refineUiSchema(s: RJSFSchema, ui: UiSchema): UiSchema {
  const items = s.items as RJSFSchema | undefined;
  if (isMedia(s) || (s.type === "array" && items && isMedia(items))) return { ...ui, "ui:widget": "media", "ui:field": undefined };
  if (s.format === "color") return { ...ui, "ui:widget": "color" };
  if (controlKind(s) === "choices") return { ...ui, "ui:widget": "multi" };
  if (acceptsText(s) && !s.enum && !s.oneOf && !s.format) {
    return { ...ui, "ui:emptyValue": "", ...((s.maxLength ?? 1000) > 80 && !s.pattern && { "ui:widget": "textarea", "ui:options": { ...textareaOptions, emptyValue: "" } }) };
  }
  const out = { ...ui };
  for (const [name, field] of Object.entries(s.properties ?? {})) if (typeof field === "object") out[name] = refineUiSchema(field as RJSFSchema, (ui[name] ?? {}) as UiSchema);
  for (const key of ["oneOf", "anyOf"] as const) {
    const branches = (s[key] ?? []).filter((b): b is RJSFSchema => typeof b === "object" && b.const === undefined);
    if (branches.length > 0) out[key] = branches.map(alternativeUiSchema);
  }
  if (controlKind(s) === "list" && items) out.items = refineUiSchema(items, (ui.items ?? {}) as UiSchema);
  return out;
}

/** The inputs of an alternative. The constant fields that identify it are hidden. */
function alternativeUiSchema(s: RJSFSchema): UiSchema {
  const ui = refineUiSchema(s, buildUiSchema(s, s.title ?? " "));
  for (const [name, field] of Object.entries(s.properties ?? {})) if (typeof field === "object" && field.const !== undefined) ui[name] = { "ui:widget": "hidden" };
  return ui;
}

const acceptsText = (s: RJSFSchema) => s.type === "string" || (Array.isArray(s.type) && s.type.includes("string") && !s.type.includes("object"));
const isMedia = (s: RJSFSchema) => s.format === "media" || s.format === "media-id";
