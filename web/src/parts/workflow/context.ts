// The context that the components of an interaction share.
import { createContext, useContext } from "react";
import type { Dispatch, SetStateAction } from "react";
import type { EditorState, InteractionEditor } from "../../api/interaction-editor";
import type { SubActionRun } from "../../api/workflows";
import type { Selection } from "../../schema/selection";
import type { Group } from "../../schema/view";
import type { SubActionStart } from "./sub-action-starts";

interface InteractionContext {
  run: string;
  editor: InteractionEditor;
  state: EditorState;
  /** Whether the interaction is read-only: a preview, or not open. */
  readOnly: boolean;
  selection: Selection;
  toggleSelection: (g: Group, id: string) => void;
  /** The sub-actions of the run, oldest first. */
  jobs: SubActionRun[];
  /** The starts of sub-actions that are pending or failed, of all cards. */
  starts: SubActionStart[];
  setStarts: Dispatch<SetStateAction<SubActionStart[]>>;
  /** The pointers of results, which are drawn below their card. */
  resultPointers: Set<string>;
}

const Context = createContext<InteractionContext | undefined>(undefined);
export const InteractionProvider = Context.Provider;

export function useInteractionContext(): InteractionContext {
  const context = useContext(Context);
  if (!context) throw new Error("InteractionProvider is missing");
  return context;
}
