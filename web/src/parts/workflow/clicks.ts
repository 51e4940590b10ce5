// The pending or refused clicks of a card.
import { useState } from "react";
import { Refusal, idempotencyKey } from "../../api/client";
import { queries } from "../../api/queries";
import { workflows } from "../../api/workflows";
import type { JSONObject } from "../../schema/pointer";
import type { Node, SubAction } from "../../schema/view";
import { showProblem } from "../notice";
import { useShared } from "./context";

export interface Clicked { id: string; at: number; problem?: Refusal; again: () => void }

/** Why a click was refused: the errors of its parameters by name, or else the problem itself. */
export function reasons(p: Refusal): string[] {
  return p.flaws.length === 0 ? [p.message] : p.flaws.map((f) => (f.pointer.startsWith("/params/") ? `${f.pointer.slice(8).replaceAll("_", " ")}: ${f.detail}` : f.detail));
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
      if (!(await desk.flush())) throw desk.state.problem ?? new Refusal(409, "conflict", "The edit is not saved.", "Decide which value holds, then generate again.");
      await workflows.click(run, { interaction_id: state.interaction.interaction_id, path: node.pointer, sub_action_id: action.id, params, request_id: id, ...(standIn && { stand_in: standIn }) });
      await queries.invalidateQueries({ queryKey: ["sub-actions", run] });
      dismiss(id);
    } catch (e) {
      const problem = e instanceof Refusal ? e : new Refusal(0, "internal", "That did not work.", "Try again.", true);
      setClicks((all) => all.map((c) => (c.id === id ? { ...c, problem } : c)));
      showProblem(new Refusal(problem.status, problem.code, `${node.label || node.key}: ${reasons(problem).join(" ")}`, problem.hint, problem.retryable));
    }
  };
  return { start: (params, standIn) => void begin(idempotencyKey(), params, standIn), clicks, dismiss };
}
