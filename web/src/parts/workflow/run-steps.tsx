import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { workflowApi } from "../../api/workflows";
import type { WorkflowRun, WorkflowRunStep } from "../../api/workflows";
import { formatDuration } from "../../schema/format";
import { isRunFinished } from "../../schema/run";
import { showProblem } from "../notice";
import { RunStatus } from "./run-status";

interface Props { run: WorkflowRun; shown: string; onLook: (interaction: string) => void }

/** The steps of a run in order, with their interactions. A finished step can be repeated in a new run. */
export function RunSteps({ run, shown, onLook }: Props) {
  return <ol className="run-steps" aria-label="Steps">{run.steps.map((s) => <li key={s.id} data-status={s.status}><Step run={run} step={s} shown={shown} onLook={onLook} /></li>)}</ol>;
}

function Step({ run, step, shown, onLook }: Props & { step: WorkflowRunStep }) {
  const [busy, setBusy] = useState(false);
  const navigate = useNavigate();
  const again = async () => {
    setBusy(true);
    try {
      const fresh = await workflowApi.fork(run.id, step.id);
      await navigate({ to: "/workflows/runs/$id", params: { id: fresh.id } });
    } catch (e) {
      showProblem(e);
    }
    setBusy(false);
  };
  const asked = step.interactions.at(-1);
  const took = step.started_at && step.ended_at ? formatDuration(Date.parse(step.ended_at) - Date.parse(step.started_at)) : "";
  return (
    <>
      <span className="run-step-name">{step.title || step.id}</span>
      <RunStatus status={step.status} />
      {took && <span className="soft">{took}</span>}
      {asked && asked !== run.interaction_id && <Button size="compact-xs" variant="subtle" color="gray" c="var(--soft)" aria-pressed={asked === shown} onClick={() => onLook(asked === shown ? "" : asked)}>{asked === shown ? "Close" : "What was asked"}</Button>}
      {(isRunFinished(run.status) ? step.status !== "pending" : step.status === "succeeded") && <Button size="compact-xs" variant="subtle" color="gray" c="var(--soft)" loading={busy} onClick={() => void again()}>Run again from here</Button>}
      {step.error?.message && <span className="bad">{step.error.message}</span>}
    </>
  );
}
