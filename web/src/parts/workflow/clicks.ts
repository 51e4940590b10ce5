// The pending or refused clicks of a card.
import { useState } from "react";
import { ApiError, idempotencyKey } from "../../api/client";
import { queryClient } from "../../api/queries";
import { workflowApi } from "../../api/workflows";
import type { JSONObject } from "../../schema/pointer";
import type { Node, SubAction } from "../../schema/view";
import { showProblem } from "../notice";
import { useShared } from "./context";

export interface Clicked { id: string; at: number; problem?: ApiError; again: () => void }

/** Why a click was refused: the errors of its parameters by name, or else the problem itself. */
export function reasons(p: ApiError): string[] {
  return p.fieldErrors.length === 0 ? [p.message] : p.fieldErrors.map((f) => (f.pointer.startsWith("/params/") ? `${f.pointer.slice(8).replaceAll("_", " ")}: ${f.detail}` : f.detail));
}

/** Starts a sub-action. Drafts are saved first, because the server sends its saved data. */
export function useClicks(node: Node, action: SubAction): { start: (params: JSONObject, standIn?: "offline") => void; clicks: Clicked[]; dismiss: (id: string) => void } {
  const { desk, run, state } = useShared();
  const [clicks, setClicks] = useState<Clicked[]>([]);
  const dismiss = (id: string) => setClicks((all) => all.filter((c) => c.id !== id));
  const begin = async (id: string, params: JSONObject, standIn?: "offline") => {
    const again = () => void begin(id, params, standIn);
    setClicks((all) => [...all.filter((c) => c.id !== id), { id, at: Date.now(), again }]);
    try {
      if (!(await desk.flush())) throw desk.state.error ?? new ApiError(409, "conflict", "The edit is not saved.", "Decide which value holds, then generate again.");
      await workflowApi.startSubAction(run, { interaction_id: state.interaction.interaction_id, path: node.pointer, sub_action_id: action.id, params, request_id: id, ...(standIn && { stand_in: standIn }) });
      await queryClient.invalidateQueries({ queryKey: ["sub-actions", run] });
      dismiss(id);
    } catch (e) {
      const problem = e instanceof ApiError ? e : new ApiError(0, "internal", "That did not work.", "Try again.", true);
      setClicks((all) => all.map((c) => (c.id === id ? { ...c, problem } : c)));
      showProblem(new ApiError(problem.status, problem.code, `${node.label || node.key}: ${reasons(problem).join(" ")}`, problem.hint, problem.retryable));
    }
  };
  return { start: (params, standIn) => void begin(idempotencyKey(), params, standIn), clicks, dismiss };
}
