import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { queryClient, useRunStore } from "../../api/queries";
import { workflowApi } from "../../api/workflows";
import type { SubActionRun } from "../../api/workflows";
import { isGenerationFinished } from "../../schema/generation-request";
import { formatDuration, mediaURL } from "../../schema/format";
import type { Node, SubAction } from "../../schema/view";
import { showProblem } from "../notice";
import { useNow } from "../now";
import { reasons } from "./clicks";
import type { Clicked } from "./clicks";
import { useShared } from "./context";
import { advice } from "./failures";

interface Props { node: Node; action: SubAction; clicks: Clicked[]; onDismiss: (id: string) => void; onStandIn: () => void }

const keptErrors = 3; // the maximum number of failed sub-actions on a card

/** The runs of a card's sub-action that are in progress or failed, listed separately. */
export function Jobs({ node, action, clicks, onDismiss, onStandIn }: Props) {
  const { jobs, state } = useShared();
  const own = jobs.filter((j) => j.interaction_id === state.interaction.interaction_id && j.prompt_id === node.key && j.action_type === action.action_type && (!j.sub_action_id || j.sub_action_id === action.id));
  const running = own.filter((j) => !isGenerationFinished(j.status));
  const last = own.findLastIndex((j) => j.status === "succeeded" || j.status === "partial");
  const failed = own.filter((j, i) => i > last && (failing(j) || faults(j).length > 0)).slice(-keptErrors);
  const partly = last >= 0 && own[last] && faults(own[last]).length > 0 && !failed.includes(own[last]) ? own[last] : undefined;
  const standIn = own.at(-1)?.stand_in ? `The offline painter substitutes for ${action.provider}.` : "";
  if (clicks.length + running.length + failed.length === 0 && !partly && !standIn) return null;
  return (
    <ul className="wf-jobs">
      {standIn && <li className="soft">{standIn}</li>}
      {clicks.map((c) => <li key={c.id}>{c.problem ? <Refused click={c} onDismiss={() => onDismiss(c.id)} onStandIn={() => { onDismiss(c.id); onStandIn(); }} /> : <Waiting label={action.loading_label} at={c.at} note="Starting" />}</li>)}
      {running.map((j) => <li key={j.id}><Running job={j} label={action.loading_label} /></li>)}
      {[...(partly ? [partly] : []), ...failed].map((j) => <li key={j.id}><Failed job={j} /></li>)}
    </ul>
  );
}

const failing = (j: SubActionRun) => j.status === "failed" || j.status === "moderated";
const faults = (j: SubActionRun) => j.errors ?? [];

function Waiting({ label, at, note }: { label: string; at: number; note?: string | undefined }) {
  const now = useNow(true);
  return <p><span className="spinner" aria-hidden /> <span role="status">{label}</span> <span className="soft">{[formatDuration(Math.max(0, now - at)), note].filter(Boolean).join(" · ")}</span></p>;
}

function Running({ job, label }: { job: SubActionRun; label: string }) {
  const { run, fixed } = useShared();
  const { subActionProgress: progress } = useRunStore();
  const { note, partial } = progress(job.id);
  const cancel = () => void workflowApi.cancelSubAction(job.id).then(() => queryClient.invalidateQueries({ queryKey: ["sub-actions", run] }), showProblem);
  return (
    <div className="wf-job">
      {partial && <img className="partial" src={mediaURL(partial)} alt="Preview" title="Preview" width={96} height={96} />}
      <Waiting label={label} at={Date.parse(job.created_at)} note={note ?? (job.status === "queued" ? "Waiting for its turn" : undefined)} />
      {!fixed && <Button size="compact-xs" variant="default" onClick={cancel}>Cancel</Button>}
    </div>
  );
}

/** A failure and its remedy. */
function Failed({ job }: { job: SubActionRun }) {
  const { run, fixed } = useShared();
  const [busy, setBusy] = useState(false);
  const retry = async (positions: number[]) => {
    setBusy(true);
    try {
      await workflowApi.retrySubAction(job.id, positions);
      await queryClient.invalidateQueries({ queryKey: ["sub-actions", run] });
    } catch (e) {
      showProblem(e);
    }
    setBusy(false);
  };
  const slots = faults(job);
  const again = slots.filter((s) => s.code !== "moderated"); // the same prompt would be refused again
  return (
    <div className="wf-error" role="alert">
      {slots.length === 0 && <p className="bad">{job.error?.message || "It failed."}</p>}
      {slots.map((s) => <p key={s.position} className="bad">Picture {s.position}: {s.message}{!fixed && again.includes(s) && <Button size="compact-xs" variant="default" ml="xs" disabled={busy} onClick={() => void retry([s.position])}>Retry picture {s.position}</Button>}</p>)}
      <p className="soft">{advice(job)}</p>
      {!fixed && (slots.length === 0 ? job.error?.code !== "moderated" : again.length > 1) && <Button size="compact-xs" variant="default" loading={busy} onClick={() => void retry(again.map((s) => s.position))}>Retry</Button>}
    </div>
  );
}

function Refused({ click, onDismiss, onStandIn }: { click: Clicked; onDismiss: () => void; onStandIn: () => void }) {
  const p = click.problem;
  return (
    <div className="wf-error" role="alert">
      {p && reasons(p).map((r) => <p key={r} className="bad">{r}</p>)}
      {p?.hint && <p className="soft">{p.hint}</p>}
      <Group gap="xs">
        <Button size="compact-xs" variant="default" onClick={click.again}>Try again</Button>
        {p?.code === "missing_key" && <Button size="compact-xs" variant="default" onClick={onStandIn}>Use the offline painter</Button>}
        <Button size="compact-xs" variant="subtle" color="gray" c="var(--soft)" onClick={onDismiss}>Dismiss</Button>
      </Group>
    </div>
  );
}
