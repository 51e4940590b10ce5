import { notifications } from "@mantine/notifications";
import { useEffect, useRef } from "react";
import type { SubActionRun } from "../../api/workflows";
import { isGenerationFinished } from "../../schema/generation-request";

const remedies: Record<string, string> = {
  moderated: "The provider refused this prompt: change it, then generate again.",
  over_budget: "Raise the budget on the server, or request fewer pictures.",
  missing_key: "Set the provider's key on the server, or use the offline painter.",
  cancelled: "Retry it if you want it after all.",
  rate_limited: "The provider is busy: wait a minute, then retry.",
};

/** The remedy for a failed sub-action. */
export function remedy(job: SubActionRun): string {
  const e = job.error ?? job.errors[0];
  const own = e && remedies[e.code];
  if (own) return own;
  return e?.retryable === false ? "Change the prompt or the parameters, then generate again." : "Retry it; if it fails again, change the prompt.";
}

/** Announces that a sub-action failed while the page was open; its card shows the reason. */
export function useFailureNotices(jobs: SubActionRun[], interaction: string) {
  const running = useRef(new Set<string>());
  useEffect(() => {
    for (const j of jobs.filter((x) => x.interaction_id === interaction)) {
      if (!isGenerationFinished(j.status)) running.current.add(j.id);
      else if (running.current.delete(j.id) && ["failed", "moderated"].includes(j.status)) {
        notifications.show({ color: "red", autoClose: 10_000, title: `${j.prompt_id ?? "A card"}: ${j.error?.message || "It failed."}`, message: `${remedy(j)} The other cards are not affected.`, closeButtonProps: { "aria-label": "Close" } });
      }
    }
  }, [jobs, interaction]);
}
