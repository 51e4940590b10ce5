// The shared context of an interaction's parts.
import { createContext, useContext } from "react";
import type { Desk, DeskState } from "../../api/desk";
import type { SubActionRun } from "../../api/workflows";
import type { Choice } from "../../schema/selection";
import type { Group } from "../../schema/view";

export interface Shared {
  run: string;
  desk: Desk;
  state: DeskState;
  /** Nothing can be changed: it is answered, or a preview. */
  fixed: boolean;
  choice: Choice;
  toggle: (g: Group, id: string) => void;
  /** The sub-actions of the run, oldest first. */
  jobs: SubActionRun[];
  /** The pointers that are drawn beneath the card whose results they are. */
  targets: Set<string>;
}

const Context = createContext<Shared | undefined>(undefined);
export const SharedProvider = Context.Provider;

export function useShared(): Shared {
  const shared = useContext(Context);
  if (!shared) throw new Error("SharedProvider is missing");
  return shared;
}
