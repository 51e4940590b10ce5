// The shared context of an interaction's parts.
import { createContext, useContext } from "react";
import type { EditorState, InteractionEditor } from "../../api/interaction-editor";
import type { SubActionRun } from "../../api/workflows";
import type { Selection } from "../../schema/selection";
import type { Group } from "../../schema/view";

export interface Shared {
  run: string;
  desk: InteractionEditor;
  state: EditorState;
  /** Whether the interaction is read-only: a preview, or not open. */
  fixed: boolean;
  choice: Selection;
  toggle: (g: Group, id: string) => void;
  /** The sub-actions of the run, oldest first. */
  jobs: SubActionRun[];
  /** The pointers of results, which are drawn below their card. */
  targets: Set<string>;
}

const Context = createContext<Shared | undefined>(undefined);
export const SharedProvider = Context.Provider;

export function useShared(): Shared {
  const shared = useContext(Context);
  if (!shared) throw new Error("SharedProvider is missing");
  return shared;
}
