import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useRequestKeys } from "../../api/idempotency";
import { workflowApi } from "../../api/workflows";
import type { WorkflowRun, WorkflowRunStep } from "../../api/workflows";
import { formatDuration } from "../../schema/format";
import { isRunFinished } from "../../schema/run";
import { useBusy } from "../busy";
import { RunStatus } from "./run-status";

interface Props { run: WorkflowRun; shown: string; onShow: (interaction: string) => void }

/** The steps of a run in order, with their interactions. A finished step can be repeated in a new run. */
export function RunSteps({ run, shown, onShow }: Props) {
  return <ol className="run-steps" aria-label="Steps">{run.steps.map((s) => <li key={s.id} data-status={s.status}><Step run={run} step={s} shown={shown} onShow={onShow} /></li>)}</ol>;
}

function Step({ run, step, shown, onShow }: Props & { step: WorkflowRunStep }) {
  const [busy, whileBusy] = useBusy();
  const navigate = useNavigate();
  const keys = useRequestKeys();
  const runAgain = () => whileBusy(async () => {
    const forked = await keys.send([run.id, step.id], (key) => workflowApi.fork(run.id, step.id, key));
    await navigate({ to: "/workflows/runs/$id", params: { id: forked.id } });
  });
  const interaction = step.interactions.at(-1);
  const elapsed = step.started_at && step.ended_at ? formatDuration(Date.parse(step.ended_at) - Date.parse(step.started_at)) : "";
  return (
    <>
      <span className="run-step-name">{step.title || step.id}</span>
      <RunStatus status={step.status} />
      {elapsed && <span className="muted">{elapsed}</span>}
      {interaction && interaction !== run.interaction_id && <Button size="compact-xs" variant="subtle" color="gray" c="var(--text-muted)" onClick={() => onShow(interaction === shown ? "" : interaction)}>{interaction === shown ? "Hide the interaction" : "Show the interaction"}</Button>}
      {(isRunFinished(run.status) ? step.status !== "pending" : step.status === "succeeded") && <Button size="compact-xs" variant="subtle" color="gray" c="var(--text-muted)" loading={busy} onClick={() => void runAgain()}>Run again from here</Button>}
      {step.error?.message && step.error.message !== run.error?.message && <span className="error">{step.error.message}</span>}
    </>
  );
}
