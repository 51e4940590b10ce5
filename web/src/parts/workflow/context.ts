// The context that the components of an interaction share.
import { createContext, useContext } from "react";
import type { Dispatch, SetStateAction } from "react";
import type { ApiError } from "../../api/client";
import type { EditorState, InteractionEditor } from "../../api/interaction-editor";
import type { SubActionRun } from "../../api/workflows";
import { get, pathOf } from "../../schema/pointer";
import type { JSONValue } from "../../schema/pointer";
import type { Selection } from "../../schema/selection";
import type { Group, Node } from "../../schema/view";

/** The props of a component that draws a node: the node and the heading level. */
export interface NodeProps { node: Node; level: number }

/** A start of a sub-action that is pending or failed. */
export interface SubActionStart { id: string; /** The card and its sub-action. */ place: string; at: number; error?: ApiError; retry: () => void }

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
  /** Those of all cards. */
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

/** The value of a node. */
export function useValue(n: Node): JSONValue | undefined {
  const { editor } = useInteractionContext();
  return get(editor.data(), pathOf(n.pointer));
}
