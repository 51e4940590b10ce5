// One interaction in this tab: the server's data, unsaved edits, and whether they are saved.
import { change, dropped, noEdits, refused, revert, saved, send, shown } from "../schema/edit";
import type { Edits, Operation } from "../schema/edit";
import { equal, get, pathOf } from "../schema/pointer";
import type { JSONObject, JSONValue } from "../schema/pointer";
import { apply } from "../schema/view";
import type { Change, Interaction } from "../schema/view";
import { Refusal } from "./client";

export type Saving = "saved" | "typing" | "saving" | "failed";

export interface DeskState {
  interaction: Interaction;
  edits: Edits;
  saving: Saving;
  /** Why the newest edit was not saved. */
  problem?: Refusal;
  /** Pointers that somebody else changed while they were edited. */
  conflicts: string[];
}

/** The part of the server's API that an interaction needs. */
export interface Store {
  edit: (id: string, version: number, operations: Operation[]) => Promise<Change>;
  interaction: (id: string) => Promise<Interaction>;
}

const pause = 450; // ms without typing until an edit is saved

export class Desk {
  state: DeskState;
  private watchers = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private flushing: Promise<boolean> | undefined;

  constructor(interaction: Interaction, private readonly store: Store, private readonly delay = pause) {
    this.state = { interaction, edits: noEdits, saving: "saved", conflicts: [] };
  }

  snapshot = (): DeskState => this.state;

  subscribe = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  };

  /** The data as the person sees it. */
  data(): JSONObject {
    return shown(this.state.interaction.display_data, this.state.edits.drafts) as JSONObject;
  }

  /** Records the new value of a form. */
  edit(pointer: string, value: JSONValue | undefined) {
    const { edits, interaction } = this.state;
    const next = change(edits, interaction.display_data, pointer, value);
    if (next !== edits) this.typed(next);
  }

  undo() { this.typed(revert(this.state.edits, this.state.interaction.display_data, "undo")); }
  redo() { this.typed(revert(this.state.edits, this.state.interaction.display_data, "redo")); }

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
  take(c: Change) {
    const next = apply(this.state.interaction, c);
    if (next) this.set({ interaction: next });
    else void this.read();
  }

  /** Replaces the interaction with the server's, unless that one is older. */
  replace(interaction: Interaction) {
    if (interaction.version >= this.state.interaction.version) this.set({ interaction });
  }

  async read() {
    try {
      this.replace(await this.store.interaction(this.state.interaction.interaction_id));
    } catch { /* The next change or reload tries again. */ }
  }

  /** Resolves the conflicts: keeps the person's own values, or the newest ones of others. */
  async decide(mine: boolean) {
    const { edits, conflicts } = this.state;
    this.set({ conflicts: [], edits: mine ? edits : dropped(edits, conflicts) });
    await this.flush();
  }

  private typed(edits: Edits) {
    const { problem: _problem, ...rest } = this.state;
    this.state = rest;
    this.set({ edits, saving: "typing" });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), this.delay);
  }

  private async save(): Promise<boolean> {
    const { edits, operations } = this.patch();
    if (operations.length === 0) {
      const left = this.state.conflicts.length > 0;
      this.set({ edits: left ? refused(this.state.edits) : saved(edits), saving: left ? "failed" : "saved" });
      return !left;
    }
    this.set({ edits, saving: "saving" });
    const { interaction_id, version } = this.state.interaction;
    try {
      const c = await this.store.edit(interaction_id, version, operations);
      const next = apply(this.state.interaction, c);
      const fresh = next ?? (await this.store.interaction(interaction_id));
      const left = saved(this.state.edits);
      this.set({ interaction: fresh, edits: left, saving: left.drafts.size === 0 ? "saved" : this.state.conflicts.length > 0 ? "failed" : "typing" });
      return this.state.conflicts.length === 0;
    } catch (e) {
      return this.refuse(e);
    }
  }

  /** The patch of the drafts, without those in conflict. */
  private patch() {
    const { edits, interaction, conflicts } = this.state;
    const free = { ...edits, drafts: new Map([...edits.drafts].filter(([p]) => !conflicts.includes(p))) };
    const { edits: sending, operations } = send(free, interaction.display_data);
    return { edits: { ...sending, drafts: edits.drafts }, operations };
  }

  private async refuse(e: unknown): Promise<boolean> {
    const problem = e instanceof Refusal ? e : new Refusal(0, "internal", "The edit was not saved.", "Try again.", true);
    if (problem.status !== 412) {
      this.set({ edits: refused(this.state.edits), saving: "failed", problem });
      return false;
    }
    const before = this.state.interaction;
    const sent = [...this.state.edits.sent.keys()];
    const fresh = await this.store.interaction(before.interaction_id).catch(() => undefined);
    if (!fresh) {
      this.set({ edits: refused(this.state.edits), saving: "failed", problem });
      return false;
    }
    const differ = sent.filter((p) => !equal(get(before.display_data, pathOf(p)), get(fresh.display_data, pathOf(p))));
    const conflicts = [...new Set([...this.state.conflicts, ...(differ.length > 0 ? differ : sent)])];
    this.set({ interaction: fresh, edits: refused(this.state.edits), conflicts, saving: "failed" });
    return conflicts.length === sent.length ? false : (await this.save(), false);
  }

  private set(to: Partial<DeskState>) {
    this.state = { ...this.state, ...to };
    for (const f of this.watchers) f();
  }
}
