import { Button, Group } from "@mantine/core";
import { useRequestKeys } from "../../api/idempotency";
import { queryClient, useRunStore } from "../../api/queries";
import { workflowApi } from "../../api/workflows";
import type { SubActionRun } from "../../api/workflows";
import { isGenerationFinished } from "../../schema/generation-request";
import { formatDuration, mediaURL } from "../../schema/format";
import type { Node, SubAction } from "../../schema/view";
import { useBusy } from "../busy";
import { showError } from "../notice";
import { useNow } from "../now";
import { errorReasons } from "./sub-action-starts";
import { useInteractionContext } from "./context";
import type { SubActionStart } from "./context";
import { remedy } from "./failures";

interface Props { node: Node; action: SubAction; starts: SubActionStart[]; onDismiss: (id: string) => void; onStandIn: () => void }

const maxFailed = 3; // the maximum number of failed sub-actions on a card

/** The runs of a card's sub-action that are in progress or failed, listed separately. */
export function SubActionRuns({ node, action, starts, onDismiss, onStandIn }: Props) {
  const { jobs, state } = useInteractionContext();
  const own = jobs.filter((j) => j.interaction_id === state.interaction.interaction_id && j.prompt_id === node.key && j.action_type === action.action_type && (!j.sub_action_id || j.sub_action_id === action.id));
  const running = own.filter((j) => !isGenerationFinished(j.status));
  const last = own.findLastIndex((j) => j.status === "succeeded" || j.status === "partial");
  const failed = own.filter((j, i) => i > last && (hasFailed(j) || resultErrors(j).length > 0)).slice(-maxFailed);
  const partial = last >= 0 && own[last] && resultErrors(own[last]).length > 0 && !failed.includes(own[last]) ? own[last] : undefined;
  const standIn = own.at(-1)?.stand_in ? `The offline painter substitutes for ${action.provider}.` : "";
  if (starts.length + running.length + failed.length === 0 && !partial && !standIn) return null;
  return (
    <ul className="wf-jobs">
      {standIn && <li className="muted">{standIn}</li>}
      {starts.map((c) => <li key={c.id}>{c.error ? <FailedStart start={c} onDismiss={() => onDismiss(c.id)} onStandIn={() => { onDismiss(c.id); onStandIn(); }} /> : <Pending label={action.loading_label} at={c.at} note="Starting" />}</li>)}
      {running.map((j) => <li key={j.id}><Running job={j} label={action.loading_label} /></li>)}
      {[...(partial ? [partial] : []), ...failed].map((j) => <li key={j.id}><Failed job={j} /></li>)}
    </ul>
  );
}

const hasFailed = (j: SubActionRun) => j.status === "failed" || j.status === "moderated";
const resultErrors = (j: SubActionRun) => j.errors ?? [];

function Pending({ label, at, note }: { label: string; at: number; note?: string | undefined }) {
  const now = useNow(true);
  return <p><span className="spinner" aria-hidden /> <span role="status">{label}</span> <span className="muted">{[formatDuration(Math.max(0, now - at)), note].filter(Boolean).join(" · ")}</span></p>;
}

function Running({ job, label }: { job: SubActionRun; label: string }) {
  const { run, readOnly } = useInteractionContext();
  const { subActionProgress: progress } = useRunStore();
  const { note, partial } = progress(job.id);
  const cancel = () => void workflowApi.cancelSubAction(job.id).then(() => queryClient.invalidateQueries({ queryKey: ["sub-actions", run] }), showError);
  return (
    <div className="wf-job">
      {partial && <img className="partial" src={mediaURL(partial)} alt="Preview" title="Preview" width={96} height={96} />}
      <Pending label={label} at={Date.parse(job.created_at)} note={note ?? (job.status === "queued" ? "Waiting for its turn" : undefined)} />
      {!readOnly && <Button size="compact-xs" variant="default" onClick={cancel}>Cancel</Button>}
    </div>
  );
}

/** A failure and its remedy. */
function Failed({ job }: { job: SubActionRun }) {
  const { run, readOnly } = useInteractionContext();
  const [busy, whileBusy] = useBusy();
  const keys = useRequestKeys();
  const retry = (positions: number[]) => whileBusy(async () => {
    await keys.send([job.id, positions], (key) => workflowApi.retrySubAction(job.id, positions, key));
    await queryClient.invalidateQueries({ queryKey: ["sub-actions", run] });
  });
  const slots = resultErrors(job);
  const retryable = slots.filter((s) => s.code !== "moderated"); // the same prompt would be refused again
  return (
    <div className="wf-error" role="alert">
      {slots.length === 0 && <p className="error">{job.error?.message || "It failed."}</p>}
      {slots.map((s) => <p key={s.position} className="error">Picture {s.position}: {s.message}{!readOnly && retryable.includes(s) && <Button size="compact-xs" variant="default" ml="xs" disabled={busy} onClick={() => void retry([s.position])}>Retry picture {s.position}</Button>}</p>)}
      <p className="muted">{remedy(job)}</p>
      {!readOnly && (slots.length === 0 ? job.error?.code !== "moderated" : retryable.length > 1) && <Button size="compact-xs" variant="default" loading={busy} onClick={() => void retry(retryable.map((s) => s.position))}>Retry</Button>}
    </div>
  );
}

function FailedStart({ start, onDismiss, onStandIn }: { start: SubActionStart; onDismiss: () => void; onStandIn: () => void }) {
  const p = start.error;
  return (
    <div className="wf-error" role="alert">
      {p && errorReasons(p).map((r) => <p key={r} className="error">{r}</p>)}
      {p?.hint && <p className="muted">{p.hint}</p>}
      <Group gap="xs">
        <Button size="compact-xs" variant="default" onClick={start.retry}>Try again</Button>
        {p?.code === "missing_key" && <Button size="compact-xs" variant="default" onClick={onStandIn}>Use the offline painter</Button>}
        <Button size="compact-xs" variant="subtle" color="gray" c="var(--text-muted)" onClick={onDismiss}>Dismiss</Button>
      </Group>
    </div>
  );
}
