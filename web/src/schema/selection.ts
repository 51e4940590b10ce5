// The selection of results in an interaction, and the answer built from it.
import { get, isObject, pathOf } from "./pointer";
import { walkNodes } from "./view";
import type { Group, Interaction, Node } from "./view";

/** The chosen content ids by group, in the order of choosing. */
export type Selection = Record<string, string[]>;

const maxDepth = 32; // levels of a display schema that are searched

/** The selection groups that a display schema declares, whether or not they have results. */
export function groupsOf(schema: unknown): Group[] {
  const found = new Map<string, Group>();
  const visit = (s: unknown, depth: number): void => {
    if (!isObject(s) || depth > maxDepth) return;
    const ux = isObject(s["_ux"]) ? s["_ux"] : {};
    if (ux["selectable"] === true) {
      const g = groupOf(ux);
      found.set(g.group, g);
    }
    if (typeof s["$ref"] === "string") visit(get(schema, pathOf(s["$ref"].slice(1))), depth + 1);
    for (const p of Object.values(isObject(s["properties"]) ? s["properties"] : {})) visit(p, depth + 1);
    visit(s["additionalProperties"], depth + 1);
    visit(s["items"], depth + 1);
  };
  visit(schema, 0);
  return [...found.values()];
}

function groupOf(ux: Record<string, unknown>): Group {
  const mode = ux["selection_mode"] === "multiple" ? "multiple" : "single";
  const number = (key: string, other: number) => (typeof ux[key] === "number" ? ux[key] : other);
  const max = mode === "single" ? 1 : number("selection_max", 0);
  return { group: typeof ux["selection_group"] === "string" ? ux["selection_group"] : "default", mode, min: ux["selection_optional"] === true ? 0 : number("selection_min", 1), ...(max > 0 && { max }) };
}

/** The content ids to choose from, by group. */
export function availableContents(i: Interaction): Selection {
  const out: Selection = {};
  for (const n of walkNodes(i.view)) if (n.selection) (out[n.selection.group] ??= []).push(...idsOf(i, n));
  return out;
}

function idsOf(i: Interaction, n: Node): string[] {
  const list = get(i.display_data, pathOf(n.pointer));
  return (Array.isArray(list) ? list : []).flatMap((e) => (isObject(e) && typeof e["content_id"] === "string" ? e["content_id"] : []));
}

/** Toggles the choice of an id. A single choice replaces the previous one. Nothing can be added to a
 * full group. */
export function toggle(selection: Selection, g: Group, id: string): Selection {
  const now = selection[g.group] ?? [];
  if (now.includes(id)) return { ...selection, [g.group]: now.filter((c) => c !== id) };
  if (g.mode === "single") return { ...selection, [g.group]: [id] };
  return isGroupFull(selection, g) ? selection : { ...selection, [g.group]: [...now, id] };
}

/** Reports whether a group with multiple choices has reached its maximum. */
export function isGroupFull(selection: Selection, g: Group): boolean {
  return g.mode === "multiple" && g.max !== undefined && g.max > 0 && (selection[g.group]?.length ?? 0) >= g.max;
}

/** Returns the choice without the ids that do not exist. */
export function retainAvailable(selection: Selection, available: Selection): Selection {
  return Object.fromEntries(Object.entries(selection).map(([g, ids]) => [g, ids.filter((id) => available[g]?.includes(id))]));
}

/** What must be chosen before the interaction can be answered, in words; undefined if nothing. */
export function selectionHint(groups: Group[], selection: Selection): string | undefined {
  const short = groups.find((g) => (selection[g.group]?.length ?? 0) < g.min);
  if (!short) return undefined;
  const more = short.min - (selection[short.group]?.length ?? 0);
  const what = short.mode === "single" ? "Choose one result" : `Choose ${more === short.min ? `at least ${short.min}` : `${more} more`}`;
  return groups.length > 1 ? `${what} of ${short.group}` : what;
}

/** The body of the answer. */
export function buildAnswer(groups: Group[], selection: Selection): Record<string, unknown> {
  const selected = (g: Group) => (g.mode === "single" ? (selection[g.group]?.[0] ?? null) : (selection[g.group] ?? []));
  const [g] = groups;
  if (!g) return {};
  if (groups.length > 1) return { selected: Object.fromEntries(groups.map((x) => [x.group, selected(x)])) };
  return g.mode === "single" ? { selected_content_id: selected(g) } : { selected_content_ids: selected(g) };
}
