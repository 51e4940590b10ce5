// A person's edits: unsaved, being saved, and undoable ones.
// Texts, numbers and lists change as a whole; objects change key by key.
import { covers, equal, get, isObject, join, pathOf, set } from "./pointer";
import type { JSONValue } from "./pointer";

export interface Operation { op: "add" | "replace" | "remove"; path: string; value?: JSONValue }

/** Values by pointer; undefined is a removed value. */
type Values = Map<string, JSONValue | undefined>;

interface Step { before: Values; after: Values }

export interface Edits {
  /** The typed values that are not saved. */
  drafts: Values;
  /** The drafts that are being saved. */
  sent: Values;
  undo: Step[];
  redo: Step[];
  /** Whether the next change to the newest step's fields extends that step. */
  coalesce: boolean;
}

export const noEdits: Edits = { drafts: new Map(), sent: new Map(), undo: [], redo: [], coalesce: false };

const maxUndoSteps = 200; // the maximum that can be undone

/** The data as the person sees it. */
export function applyDrafts(data: JSONValue, drafts: Values): JSONValue {
  return [...drafts].reduce((v, [pointer, value]) => set(v, pathOf(pointer), value), data);
}

/** The smallest values in which two values differ. */
function differences(before: JSONValue | undefined, after: JSONValue | undefined, pointer: string, out: Values = new Map()): Values {
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) differences(before[key], after[key], join(pointer, key), out);
  } else if (!equal(before, after)) out.set(pointer, after);
  return out;
}

/** Records a person's change to the form at a pointer. */
export function recordChange(e: Edits, data: JSONValue, pointer: string, to: JSONValue | undefined): Edits {
  const now = applyDrafts(data, e.drafts);
  const after = differences(get(now, pathOf(pointer)), to, pointer);
  if (after.size === 0) return e;
  const before: Values = new Map([...after.keys()].map((p) => [p, get(now, pathOf(p))]));
  const newest = e.undo.at(-1);
  const coalesces = e.coalesce && newest && [...after.keys()].every((p) => newest.after.has(p));
  const step = coalesces ? { before: newest.before, after: new Map([...newest.after, ...after]) } : { before, after };
  return { ...e, drafts: mergeDrafts(e.drafts, after), undo: [...(coalesces ? e.undo.slice(0, -1) : e.undo), step].slice(-maxUndoSteps), redo: [], coalesce: true };
}

/** Merges values into drafts. A value replaces the drafts within it. */
function mergeDrafts(drafts: Values, values: Values): Values {
  const remaining = [...drafts].filter(([p]) => ![...values.keys()].some((q) => covers(q, p)));
  return new Map([...remaining, ...values]);
}

/** Undoes the newest step, or redoes the step that was undone last. A step whose values somebody else has
 * changed is discarded. */
export function revert(e: Edits, data: JSONValue, direction: "undo" | "redo"): Edits {
  const stack = [...e[direction]];
  const now = applyDrafts(data, e.drafts);
  for (let step = stack.pop(); step; step = stack.pop()) {
    const [from, to] = direction === "undo" ? [step.after, step.before] : [step.before, step.after];
    if (![...from].every(([p, v]) => equal(get(now, pathOf(p)), v))) continue;
    const other = direction === "undo" ? "redo" : "undo";
    return { ...e, drafts: mergeDrafts(e.drafts, to), [direction]: stack, [other]: [...e[other], step], coalesce: false };
  }
  return { ...e, [direction]: stack, coalesce: false };
}

/** Starts a save. Returns the patch against the server's data. */
export function startSave(e: Edits, data: JSONValue): { edits: Edits; operations: Operation[] } {
  let patched = data; // later drafts may lie within earlier ones
  const operations = [...e.drafts].flatMap(([path, value]): Operation[] => {
    const now = get(patched, pathOf(path));
    if (equal(now, value)) return [];
    patched = set(patched, pathOf(path), value);
    if (value === undefined) return [{ op: "remove", path }];
    return [{ op: now === undefined ? "add" : "replace", path, value }];
  });
  return { edits: { ...e, sent: e.drafts, coalesce: false }, operations };
}

/** Ends a save that succeeded: only what was typed since stays a draft. */
export function finishSave(e: Edits): Edits {
  return { ...e, drafts: new Map([...e.drafts].filter(([p, v]) => !(e.sent.has(p) && equal(e.sent.get(p), v)))), sent: new Map() };
}

/** Ends a save that the server refused: what was sent stays a draft. */
export function failSave(e: Edits): Edits {
  return { ...e, sent: new Map() };
}

/** Discards the drafts at and below the pointers. */
export function discardDrafts(e: Edits, pointers: string[]): Edits {
  return { ...e, drafts: new Map([...e.drafts].filter(([p]) => !pointers.some((q) => covers(q, p)))), sent: new Map(), coalesce: false };
}
