import { Collapse, UnstyledButton } from "@mantine/core";
import { IconAlertCircle, IconCheck, IconChevronRight, IconPlayerStop } from "@tabler/icons-react";
import { useState } from "react";
import type { RunState, Step } from "../schema/run";
import { isRunFinished } from "../schema/run";
import { altText, formatDuration, mediaURL } from "../schema/format";
import { useNow } from "./now";

/** The steps of a run: open while it runs, folded when it has ended. */
export function Steps({ run, onOpen }: { run: RunState; onOpen: () => void }) {
  const isRunning = run.status === "running";
  const [override, setOverride] = useState<boolean>();
  const now = useNow(isRunning);
  const isOpen = override ?? !isRunFinished(run.status);
  const elapsed = (run.endedAt ?? now) - (run.startedAt ?? now);
  const count = run.steps.length;
  if (count === 0 && isRunFinished(run.status) && run.turns.length > 0) return null;
  const label = isRunning ? (count === 0 ? "Thinking" : "Working") : run.status === "paused" ? "Waiting for you" : "Worked";
  return (
    <div className="steps">
      <UnstyledButton className="steps-head" aria-expanded={isOpen} onClick={() => { setOverride(!isOpen); onOpen(); }}>
        <IconChevronRight size={15} className="chevron" data-open={isOpen || undefined} />
        <span className={isRunning ? "shimmer" : undefined}>{label}</span>
        <span className="muted">{[run.startedAt !== undefined && run.status !== "paused" && formatDuration(Math.max(0, elapsed)), count > 0 && `${count} ${count === 1 ? "step" : "steps"}`].filter(Boolean).join(" · ")}</span>
      </UnstyledButton>
      <Collapse in={isOpen && count > 0}><StepList run={run} runId={run.id} now={now} /></Collapse>
    </div>
  );
}

function StepList({ run, runId, now }: { run: RunState; runId: string; now: number }) {
  const own = run.steps.filter((s) => s.runId === runId);
  if (own.length === 0) return null;
  return (
    <ol className="step-list">
      {own.map((s) => (
        <li key={s.id} data-status={s.status}>
          <StepRow step={s} now={now} />
          {s.status === "running" && s.partial && <img className="partial" src={mediaURL(s.partial, 320)} alt={`Preview: ${altText(s.partial)}`} title={altText(s.partial)} style={{ aspectRatio: `${s.partial.width ?? 1} / ${s.partial.height ?? 1}` }} />}
          {s.childRunId && <StepList run={run} runId={s.childRunId} now={now} />}
        </li>
      ))}
    </ol>
  );
}

function StepRow({ step, now }: { step: Step; now: number }) {
  const message = step.status === "running" ? step.note : step.message;
  const ms = (step.endedAt ?? now) - step.startedAt;
  return (
    <div className="step">
      <StepMark status={step.status} />
      <span className="step-name">{step.name}</span>
      {message && <span className="step-message" title={message}>{message}</span>}
      {(ms >= 1000 || step.status === "running") && <span className="step-time">{formatDuration(Math.max(0, ms))}</span>}
    </div>
  );
}

function StepMark({ status }: { status: Step["status"] }) {
  switch (status) {
    case "running": return <span className="spinner" role="img" aria-label="running" />;
    case "succeeded": return <IconCheck size={15} className="success" role="img" aria-label="done" />;
    case "cancelled": return <IconPlayerStop size={15} className="muted" role="img" aria-label="stopped" />;
    default: return <IconAlertCircle size={15} className="error" role="img" aria-label="failed" />;
  }
}
