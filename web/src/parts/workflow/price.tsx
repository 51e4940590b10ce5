import { useQuery } from "@tanstack/react-query";
import { workflows } from "../../api/workflows";
import type { JSONObject } from "../../schema/pointer";
import { money } from "../../schema/text";
import type { Node, SubAction } from "../../schema/view";

/** The estimated cost of a sub-action. */
export function Price({ interaction, node, action, params }: { interaction: string; run: string; node: Node; action: SubAction; params: JSONObject }) {
  const price = useQuery({ queryKey: ["price", interaction, node.pointer, action.id, params, action.prompt_as_sent], queryFn: () => workflows.price(interaction, { path: node.pointer, sub_action_id: action.id, params }), retry: false });
  const words = price.isPending ? "…" : price.data && money({ estimated_usd: price.data.estimated_usd ?? null }) ;
  return <p>Estimated cost: <b>{words || "not known"}</b></p>;
}
