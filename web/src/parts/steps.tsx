import { Collapse, UnstyledButton } from "@mantine/core";
import { IconAlertCircle, IconCheck, IconChevronRight, IconPlayerStop } from "@tabler/icons-react";
import { useState } from "react";
import type { RunState, Step } from "../schema/run";
import { isRunFinished } from "../schema/run";
import { altText, formatDuration, mediaURL } from "../schema/format";
import { useNow } from "./now";

/** The steps of a run: open while it runs, folded when it has ended. */
export function Steps({ run, onOpen }: { run: RunState; onOpen: () => void }) {
  const working = run.status === "running";
  const [chosen, setChosen] = useState<boolean>();
  const now = useNow(working);
  const open = chosen ?? !isRunFinished(run.status);
  const took = (run.endedAt ?? now) - (run.startedAt ?? now);
  const count = run.steps.length;
  if (count === 0 && isRunFinished(run.status) && run.turns.length > 0) return null;
  const label = working ? (count === 0 ? "Thinking" : "Working") : run.status === "paused" ? "Waiting for you" : "Worked";
  return (
    <div className="steps">
      <UnstyledButton className="steps-head" aria-expanded={open} onClick={() => { setChosen(!open); onOpen(); }}>
        <IconChevronRight size={15} className="turns" data-open={open || undefined} />
        <span className={working ? "shimmer" : undefined}>{label}</span>
        <span className="soft">{run.startedAt !== undefined && formatDuration(Math.max(0, took))}{count > 0 && ` · ${count} ${count === 1 ? "step" : "steps"}`}</span>
      </UnstyledButton>
      <Collapse in={open && count > 0}><StepList run={run} of={run.id} now={now} /></Collapse>
    </div>
  );
}

function StepList({ run, of, now }: { run: RunState; of: string; now: number }) {
  const own = run.steps.filter((s) => s.runId === of);
  if (own.length === 0) return null;
  return (
    <ol className="step-list">
      {own.map((s) => (
        <li key={s.id} data-status={s.status}>
          <StepRow step={s} now={now} />
          {s.status === "running" && s.partial && <img className="partial" src={mediaURL(s.partial, 320)} alt={`Preview: ${altText(s.partial)}`} title={altText(s.partial)} style={{ aspectRatio: `${s.partial.width ?? 1} / ${s.partial.height ?? 1}` }} />}
          {s.childRunId && <StepList run={run} of={s.childRunId} now={now} />}
        </li>
      ))}
    </ol>
  );
}

function StepRow({ step, now }: { step: Step; now: number }) {
  const said = step.status === "running" ? step.note : step.message;
  const ms = (step.endedAt ?? now) - step.startedAt;
  return (
    <div className="step">
      <StepMark status={step.status} />
      <span className="step-name">{step.name}</span>
      {said && <span className="step-said" title={said}>{said}</span>}
      {(ms >= 1000 || step.status === "running") && <span className="step-time">{formatDuration(Math.max(0, ms))}</span>}
    </div>
  );
}

function StepMark({ status }: { status: Step["status"] }) {
  switch (status) {
    case "running": return <span className="spinner" role="img" aria-label="running" />;
    case "succeeded": return <IconCheck size={15} className="good" role="img" aria-label="done" />;
    case "cancelled": return <IconPlayerStop size={15} className="soft" role="img" aria-label="stopped" />;
    default: return <IconAlertCircle size={15} className="bad" role="img" aria-label="failed" />;
  }
}
