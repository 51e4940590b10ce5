import { useQuery } from "@tanstack/react-query";
import { workflowApi } from "../../api/workflows";
import type { JSONObject } from "../../schema/pointer";
import { formatCost } from "../../schema/format";
import type { Node, SubAction } from "../../schema/view";

/** The estimated cost of a sub-action. */
export function Price({ interaction, node, action, params }: { interaction: string; node: Node; action: SubAction; params: JSONObject }) {
  const price = useQuery({ queryKey: ["price", interaction, node.pointer, action.id, params, action.prompt_as_sent], queryFn: () => workflowApi.price(interaction, { path: node.pointer, sub_action_id: action.id, params }), retry: false });
  const cost = price.isPending ? "…" : price.data && formatCost({ estimated_usd: price.data.estimated_usd ?? null });
  return <p>Estimated cost: <b>{cost || "not known"}</b></p>;
}
