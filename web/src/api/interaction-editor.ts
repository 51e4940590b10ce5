// One interaction in this tab: the server's data, unsaved edits, and whether they are saved.
import { applyDrafts, discardDrafts, failSave, finishSave, noEdits, recordChange, revert, startSave } from "../schema/edit";
import type { Edits, Operation } from "../schema/edit";
import { equal, get, pathOf } from "../schema/pointer";
import type { JSONObject, JSONValue } from "../schema/pointer";
import { applyChange } from "../schema/view";
import type { Change, Interaction } from "../schema/view";
import { ApiError } from "./client";

type SaveStatus = "saved" | "typing" | "saving" | "failed";

export interface EditorState {
  interaction: Interaction;
  edits: Edits;
  saveStatus: SaveStatus;
  /** Why the newest edit was not saved. */
  error?: ApiError;
  /** Pointers that somebody else changed while they were edited. */
  conflicts: string[];
}

/** An edit that was not saved, with the value that it replaces. */
export interface UnsavedEdit { pointer: string; value?: JSONValue | undefined; before?: JSONValue | undefined }

/** The part of the server's API that an interaction needs. */
interface InteractionStore {
  edit: (id: string, version: number, operations: Operation[]) => Promise<Change>;
  interaction: (id: string) => Promise<Interaction>;
}

const saveDelay = 450; // ms without typing until an edit is saved

export class InteractionEditor {
  state: EditorState;
  private listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private flushing: Promise<boolean> | undefined;

  constructor(interaction: Interaction, private readonly store: InteractionStore, private readonly delay = saveDelay) {
    this.state = { interaction, edits: noEdits, saveStatus: "saved", conflicts: [] };
  }

  snapshot = (): EditorState => this.state;

  subscribe = (f: () => void): (() => void) => {
    this.listeners.add(f);
    return () => this.listeners.delete(f);
  };

  /** The data as the person sees it. */
  data(): JSONObject {
    return applyDrafts(this.state.interaction.display_data, this.state.edits.drafts) as JSONObject;
  }

  /** Records the new value of a form. */
  edit(pointer: string, value: JSONValue | undefined) {
    const { edits, interaction } = this.state;
    const next = recordChange(edits, interaction.display_data, pointer, value);
    if (next !== edits) this.scheduleSave(next);
  }

  undo() { this.scheduleSave(revert(this.state.edits, this.state.interaction.display_data, "undo")); }
  redo() { this.scheduleSave(revert(this.state.edits, this.state.interaction.display_data, "redo")); }

  unsaved(): UnsavedEdit[] {
    const { edits, interaction } = this.state;
    return [...edits.drafts].map(([pointer, value]) => ({ pointer, value, before: get(interaction.display_data, pathOf(pointer)) }));
  }

  /** Repeats unsaved edits of this page before it was left. An edit whose value has changed since is a conflict. */
  restore(all: UnsavedEdit[]) {
    for (const { pointer, value } of all) this.edit(pointer, value);
    const changed = this.unsaved().filter((now) => all.some((e) => e.pointer === now.pointer && !equal(e.before, now.before)));
    this.setState({ conflicts: changed.map((e) => e.pointer) });
  }

  /** Saves the drafts. Returns false if some were not saved. */
  async flush(): Promise<boolean> {
    clearTimeout(this.timer);
    while (this.flushing) await this.flushing;
    this.flushing = this.save();
    const done = await this.flushing;
    this.flushing = undefined;
    return done;
  }

  /** Applies a change from the stream. Reads the interaction again if the change does not follow its version. */
  applyChange(c: Change) {
    const next = applyChange(this.state.interaction, c);
    if (next) this.setInteraction(next);
    else void this.reload();
  }

  /** Replaces the interaction with the server's, unless that one is older. */
  replace(interaction: Interaction) {
    if (interaction.version >= this.state.interaction.version) this.setInteraction(interaction);
  }

  async reload() {
    try {
      this.replace(await this.store.interaction(this.state.interaction.interaction_id));
    } catch { /* The next change or reload tries again. */ }
  }

  /** Resolves conflicts: keeps the person's own values, or the newest ones of others. */
  async resolveConflicts(pointers: string[], keepMine: boolean) {
    const { edits, conflicts } = this.state;
    this.setState({ conflicts: conflicts.filter((p) => !pointers.includes(p)), edits: keepMine ? edits : discardDrafts(edits, pointers) });
    await this.flush();
  }

  /** Sets a newer interaction. A draft conflicts with it if somebody else has changed the same value meanwhile. */
  private setInteraction(interaction: Interaction) {
    const { interaction: before, edits: { drafts, sent }, conflicts } = this.state;
    const changed = [...drafts].filter(([p, draft]) => {
      const [old, now] = [before, interaction].map((i) => get(i.display_data, pathOf(p)));
      return !equal(now, old) && !equal(now, draft) && !(sent.has(p) && equal(now, sent.get(p)));
    });
    this.setState({ interaction, conflicts: [...new Set([...conflicts, ...changed.map(([p]) => p)])] });
  }

  private scheduleSave(edits: Edits) {
    const { error: _error, ...rest } = this.state;
    this.state = rest;
    this.setState({ edits, saveStatus: "typing" });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), this.delay);
  }

  private async save(): Promise<boolean> {
    const { edits, operations } = this.unsavedPatch();
    if (operations.length === 0) {
      const hasConflicts = this.state.conflicts.length > 0;
      this.setState({ edits: hasConflicts ? failSave(this.state.edits) : finishSave(edits), saveStatus: hasConflicts ? "failed" : "saved" });
      return !hasConflicts;
    }
    this.setState({ edits, saveStatus: "saving" });
    const { interaction_id, version } = this.state.interaction;
    try {
      const c = await this.store.edit(interaction_id, version, operations);
      const latest = applyChange(this.state.interaction, c) ?? (await this.read(interaction_id));
      const remaining = finishSave(this.state.edits);
      this.setState({ interaction: latest, edits: remaining, saveStatus: remaining.drafts.size === 0 ? "saved" : this.state.conflicts.length > 0 ? "failed" : "typing" });
      return this.state.conflicts.length === 0;
    } catch (e) {
      return this.handleSaveError(e);
    }
  }

  /** The patch of the drafts, without those in conflict. */
  private unsavedPatch() {
    const { edits, interaction, conflicts } = this.state;
    const withoutConflicts = { ...edits, drafts: new Map([...edits.drafts].filter(([p]) => !conflicts.includes(p))) };
    const { edits: started, operations } = startSave(withoutConflicts, interaction.display_data);
    return { edits: { ...started, drafts: edits.drafts }, operations };
  }

  private async handleSaveError(e: unknown): Promise<boolean> {
    const error = e instanceof ApiError ? e : new ApiError(0, "internal", "The edit was not saved.", "Try again.", true);
    if (error.status !== 412) {
      this.setState({ edits: failSave(this.state.edits), saveStatus: "failed", error });
      return false;
    }
    const before = this.state.interaction;
    const { sent } = this.state.edits;
    const latest = await this.read(before.interaction_id).catch(() => undefined);
    if (!latest) {
      this.setState({ edits: failSave(this.state.edits), saveStatus: "failed", error });
      return false;
    }
    // A value that is there already was saved by a request whose response was lost.
    const missing = [...sent.keys()].filter((p) => !equal(get(latest.display_data, pathOf(p)), sent.get(p)));
    const differ = missing.filter((p) => this.state.conflicts.includes(p) || !equal(get(before.display_data, pathOf(p)), get(latest.display_data, pathOf(p))));
    const conflicts = [...new Set([...this.state.conflicts, ...(differ.length > 0 || missing.length < sent.size ? differ : missing)])];
    this.setState({ interaction: latest, edits: failSave(this.state.edits), conflicts, saveStatus: "failed" });
    return [...sent.keys()].some((p) => !conflicts.includes(p)) && this.save();
  }

  /** Reads the interaction, unless the stream has delivered a newer version meanwhile. */
  private async read(id: string): Promise<Interaction> {
    const read = await this.store.interaction(id);
    return read.version >= this.state.interaction.version ? read : this.state.interaction;
  }

  private setState(update: Partial<EditorState>) {
    this.state = { ...this.state, ...update };
    for (const f of this.listeners) f();
  }
}
