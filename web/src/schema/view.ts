// Interactions, and the tree that the server resolves from a display schema and its data.
import type { Block } from "./layout";
import type { Operation } from "./edit";
import { covers, get, insert, isObject, pathOf, set } from "./pointer";
import type { JSONObject, JSONValue } from "./pointer";

interface Form { schema: JSONObject; layout?: Block[] }

export interface Group { group: string; mode: "single" | "multiple"; min: number; max?: number }

export interface SubAction {
  id: string;
  label: string;
  action_type: string;
  provider: string;
  param_schema?: JSONObject;
  /** The parameters before a person changes them. */
  params: JSONObject;
  result_target: string[];
  loading_label: string;
  confirm: boolean;
  question?: string;
  enabled: boolean;
  reason?: string;
  prompt_as_sent: string;
}

export interface Node {
  pointer: string;
  key: string;
  label: string;
  render_as: string;
  display?: "passthrough" | "hidden";
  type: string;
  schema: string;
  form?: Form;
  sub_actions?: SubAction[];
  selection?: Group;
  children?: Node[];
}

/** A place in a workflow where a person edits, chooses or approves. */
export interface Interaction {
  workflow_run_id: string;
  interaction_id: string;
  interaction_type: string;
  title: string;
  display_data: JSONObject;
  display_schema: JSONObject;
  view: Node;
  version: number;
  status?: string;
}

/** The effect of an edit or a result: a JSON Patch of the data, the changed nodes of the view without
 * their children, and the pointers of removed nodes. */
export interface Change { version: number; patch: Operation[]; changes: { nodes: Node[]; removed?: string[] } }

export function findNode(n: Node, pointer: string): Node | undefined {
  if (n.pointer === pointer) return n;
  for (const c of n.children ?? []) if (covers(c.pointer, pointer)) return findNode(c, pointer);
  return undefined;
}

/** All nodes, parents first. */
export function* walkNodes(n: Node): Generator<Node> {
  yield n;
  for (const c of n.children ?? []) yield* walkNodes(c);
}

/** Applies a change to an interaction. A known change has no effect. Returns undefined if the change does
 * not follow the known version: the interaction must then be read again. */
export function applyChange(i: Interaction, c: Change): Interaction | undefined {
  if (c.version <= i.version) return i;
  if (c.version > i.version + 1) return undefined;
  const data = c.patch.reduce(applyOperation, i.display_data as JSONValue);
  let view: Node | undefined = i.view;
  for (const pointer of c.changes.removed ?? []) view = view && removeNode(view, pointer);
  for (const n of c.changes.nodes) view = view && placeNode(view, n, (parent) => childOrder(i.display_schema, parent, data));
  return view && isObject(data) ? { ...i, display_data: data, view, version: c.version } : undefined;
}

function applyOperation(data: JSONValue, { op, path, value }: Operation): JSONValue {
  const at = pathOf(path);
  return op === "add" ? insert(data, at, value ?? null) : set(data, at, op === "remove" ? undefined : value);
}

function removeNode(n: Node, pointer: string): Node {
  if (!n.children) return n;
  const children = n.children.filter((c) => c.pointer !== pointer).map((c) => (covers(c.pointer, pointer) ? removeNode(c, pointer) : c));
  const { children: _children, ...alone } = n;
  return children.length > 0 ? { ...alone, children } : alone;
}

/** Replaces the older version of a node, or inserts the node among its siblings in order. */
function placeNode(n: Node, node: Node, orderOf: (parent: Node) => string[]): Node | undefined {
  if (n.pointer === node.pointer) return { ...node, ...(n.children && { children: n.children }) };
  const children = n.children ?? [];
  const at = children.findIndex((c) => covers(c.pointer, node.pointer));
  if (at >= 0) {
    const child = placeNode(children[at] as Node, node, orderOf);
    return child && { ...n, children: children.with(at, child) };
  }
  if (node.pointer.slice(0, node.pointer.lastIndexOf("/")) !== n.pointer) return undefined;
  const keys = orderOf(n);
  const before = children.filter((c) => keys.indexOf(c.key) < keys.indexOf(node.key));
  return { ...n, children: [...before, node, ...children.filter((c) => !before.includes(c))] };
}

/** The order of a node's children: the properties of its schema, then the other keys of its data. */
function childOrder(schema: JSONObject, parent: Node, data: JSONValue): string[] {
  let s = get(schema, pathOf(parent.schema));
  if (isObject(s) && !s["properties"] && typeof s["$ref"] === "string") s = get(schema, pathOf(s["$ref"].slice(1)));
  const named = Object.keys((isObject(s) && isObject(s["properties"]) && s["properties"]) || {});
  return [...named, ...Object.keys(get(data, pathOf(parent.pointer)) ?? {}).filter((key) => !named.includes(key))];
}
