// The starts of a sub-action that are pending or failed.
import { ApiError, idempotencyKey } from "../../api/client";
import { queryClient } from "../../api/queries";
import { workflowApi } from "../../api/workflows";
import type { JSONObject } from "../../schema/pointer";
import type { Node, SubAction } from "../../schema/view";
import { showError } from "../notice";
import { useInteractionContext } from "./context";
import type { SubActionStart } from "./context";

/** Why a start failed: the errors of the parameters by name, or else the message of the error. */
export function errorReasons(p: ApiError): string[] {
  return p.fieldErrors.length === 0 ? [p.message] : p.fieldErrors.map((f) => (f.pointer.startsWith("/params/") ? `${f.pointer.slice(8).replaceAll("_", " ")}: ${f.detail}` : f.detail));
}

/** Starts a sub-action. Drafts are saved first, because the server sends its saved data. The starts outlive the card,
 * which is not drawn in a closed tab and far outside the viewport. */
export function useSubActionStarts(node: Node, action: SubAction): { start: (params: JSONObject, standIn?: "offline") => void; starts: SubActionStart[]; dismiss: (id: string) => void } {
  const { editor, run, state, starts, setStarts } = useInteractionContext();
  const place = `${node.pointer} ${action.id}`;
  const dismiss = (id: string) => setStarts((all) => all.filter((c) => c.id !== id));
  const begin = async (id: string, params: JSONObject, standIn?: "offline") => {
    const retry = () => void begin(id, params, standIn);
    setStarts((all) => [...all.filter((c) => c.id !== id), { id, place, at: Date.now(), retry }]);
    try {
      if (!(await editor.flush())) throw editor.state.error ?? new ApiError(409, "conflict", "The edit is not saved.", "Choose which value to keep, then generate again.");
      await workflowApi.startSubAction(run, { interaction_id: state.interaction.interaction_id, path: node.pointer, sub_action_id: action.id, params, request_id: id, ...(standIn && { stand_in: standIn }) });
      await queryClient.invalidateQueries({ queryKey: ["sub-actions", run] });
      dismiss(id);
    } catch (e) {
      const error = e instanceof ApiError ? e : new ApiError(0, "internal", "That did not work.", "Try again.", true);
      setStarts((all) => all.map((c) => (c.id === id ? { ...c, error } : c)));
      showError(new ApiError(error.status, error.code, `${node.label || node.key}: ${errorReasons(error).join(" ")}`, error.hint, error.retryable));
    }
  };
  return { start: (params, standIn) => void begin(idempotencyKey(), params, standIn), starts: starts.filter((s) => s.place === place), dismiss };
}
