// The arrangement of a form: rows of 12 columns, sections, groups and tabs.
import type { Condition } from "./condition";
import { isObject, join } from "./pointer";

/** The number of columns in a row. In a narrow form, each field spans all of them. */
const columns = 12;

/** One input in a row. */
export interface Field { field: string; span: number; widget?: string; help?: string; visible_when?: Condition }

/** A part of an arranged form. A row has fields; a section, group or tab has blocks; tabs has tab blocks. */
export interface Block { kind: "row" | "section" | "group" | "tabs" | "tab"; title?: string; folded?: boolean; visible_when?: Condition; fields?: Field[]; blocks?: Block[] }

/** An error in a layout, with its pointer. */
export class LayoutError extends Error {
  constructor(readonly pointer: string, message: string) {
    super(message);
    this.name = "LayoutError";
  }
}

const blockKeys = ["title", "folded", "visible_when", "rows", "sections", "groups", "tabs", "order"];
const kinds = { sections: "section", groups: "group", tabs: "tab" } as const;

/** Returns the blocks of a form in the author's order. Fields that the layout does not name follow at the
 * end, one per row. Throws a {@link LayoutError} if the layout is invalid. */
export function arrange(fields: string[], layout: unknown = {}): Block[] {
  const named: string[] = [];
  const blocks = readBlocks("", layout, ["rows", "sections", "groups", "tabs", "order"], { fields, named });
  return [...blocks, ...fields.filter((f) => !named.includes(f)).map(singleFieldRow)];
}

interface Names { fields: string[]; named: string[] }

const singleFieldRow = (field: string): Block => ({ kind: "row", fields: [{ field, span: columns }] });

function readBlocks(at: string, layout: unknown, known: string[], names: Names): Block[] {
  if (!isObject(layout)) throw new LayoutError(at, "A layout must be an object.");
  return Object.entries(layout).flatMap(([key, v]): Block[] => {
    const here = join(at, key);
    if (!known.includes(key)) throw new LayoutError(here, `${key} is unknown.`);
    const list: unknown[] = Array.isArray(v) ? v : [];
    if (key === "rows") return list.map((row, i) => readRow(join(here, i), row, names));
    if (key === "order") return list.map((f, i) => { claimField(join(here, i), String(f), names); return singleFieldRow(String(f)); });
    if (key !== "sections" && key !== "groups" && key !== "tabs") return [];
    const parts = list.map((part, i) => readPart(join(here, i), kinds[key], part, names));
    return key === "tabs" ? [{ kind: "tabs", blocks: parts }] : parts;
  });
}

function readPart(at: string, kind: "section" | "group" | "tab", v: unknown, names: Names): Block {
  const part = (isObject(v) ? v : {}) as { title?: string; folded?: boolean; visible_when?: Condition };
  return {
    kind, ...(part.title && { title: part.title }), ...(part.folded && { folded: true }), ...(part.visible_when && { visible_when: part.visible_when }),
    blocks: readBlocks(at, v, blockKeys, names),
  };
}

function readRow(at: string, v: unknown, names: Names): Block {
  const fields = (Array.isArray(v) ? v : []).map((e: unknown, i) => {
    const f = readField(join(at, i), e);
    claimField(join(at, i), f.field, names);
    return f;
  });
  const usedSpan = fields.reduce((sum, f) => sum + f.span, 0);
  const unsized = fields.filter((f) => f.span === 0).length;
  if (usedSpan + unsized > columns) throw new LayoutError(at, `The fields of this row are wider than ${columns}.`);
  return { kind: "row", fields: fields.map((f) => ({ ...f, span: f.span || Math.max(Math.floor((columns - usedSpan) / unsized), 1) })) };
}

function readField(at: string, v: unknown): Field {
  if (typeof v === "string") return { field: v, span: 0 };
  if (!isObject(v) || typeof v["field"] !== "string") throw new LayoutError(at, "A field is a name, or an object with one.");
  const unknown = Object.keys(v).find((k) => !["field", "span", "widget", "help", "visible_when"].includes(k));
  if (unknown) throw new LayoutError(join(at, unknown), `${unknown} is unknown.`);
  const span = v["span"] ?? 0;
  if ("span" in v && (typeof span !== "number" || span < 1 || span > columns || span % 1 !== 0)) throw new LayoutError(join(at, "span"), `span must be 1 to ${columns}.`);
  return { ...(v as unknown as Field), span: Number(span) };
}

function claimField(at: string, field: string, { fields, named }: Names) {
  if (named.includes(field)) throw new LayoutError(at, `Field ${field} occurs twice.`);
  if (!fields.includes(field)) throw new LayoutError(at, `Field ${field} is unknown.`);
  named.push(field);
}
