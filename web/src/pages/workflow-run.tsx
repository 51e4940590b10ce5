import "../parts/workflow/workflow.css";
import { Button, Group, Skeleton } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { isNotFound } from "../api/client";
import { queryClient, useRunRecord } from "../api/queries";
import type { Question } from "../api/contract";
import { useInteraction, useSubActions, useWorkflowRun, useWorkflows } from "../api/workflow-queries";
import { workflowApi } from "../api/workflows";
import type { WorkflowRun } from "../api/workflows";
import { MediaView } from "../parts/media-view";
import { NotFound } from "../parts/not-found";
import { showError } from "../parts/notice";
import { useInNewMessage } from "../parts/open-media";
import { QuestionCard } from "../parts/question";
import { InteractionView } from "../parts/workflow/interaction";
import { Outcome } from "../parts/workflow/outcome";
import { RunStatus } from "../parts/workflow/run-status";
import { RunSteps } from "../parts/workflow/run-steps";
import { isRunFinished } from "../schema/run";
import { formatCost } from "../schema/format";

/** A workflow run: its steps, the open interaction and the outcome. */
export default function WorkflowRunPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const run = useWorkflowRun(id);
  const [selected, setSelected] = useState("");
  useEffect(() => { document.title = `${run.data?.title || "Workflow"} · Atelier`; }, [run.data]);
  useEffect(() => setSelected(""), [id, run.data?.interaction_id]);
  const r = run.data; // kept when a later fetch fails
  if (!r && run.isError) return <NotFound title={isNotFound(run.error) ? "Run not found" : "The run could not be loaded"}><p>{isNotFound(run.error) ? "The address is wrong, or the run belongs to another owner." : run.error.message}</p><Link to="/workflows">Show all runs</Link></NotFound>;
  if (!r) return <div className="workflows"><Skeleton h={200} /></div>;
  const shown = selected || r.interaction_id || "";
  return (
    <div className="workflows">
      <RunHeader run={r} />
      <RunSteps run={r} shown={shown} onShow={setSelected} />
      {shown && <InteractionLoader key={shown} id={shown} run={id} />}
      {r.status === "paused" && !r.interaction_id && <AgentQuestion run={id} />}
      {!shown && r.status === "running" && <p role="status"><span className="spinner" aria-hidden /> {r.steps.find((s) => s.status === "running")?.title ?? "Working"}…</p>}
      {isRunFinished(r.status) && <Outcome run={r} />}
      <RunMediaView run={id} />
    </div>
  );
}

function RunHeader({ run }: { run: WorkflowRun }) {
  const cancel = () => void workflowApi.cancel(run.id).then(() => queryClient.invalidateQueries({ queryKey: ["workflow-run", run.id] }), showError);
  const cost = formatCost(run.cost);
  const id = run.workflow_id ?? "";
  const isStored = useWorkflows().data?.items.some((w) => w.id === id); // a run may have a definition of its own
  return (
    <header className="run-head">
      <p><Link to="/workflows" className="muted">Workflows</Link>{id && <> / {isStored ? <Link to="/workflows/$id" params={{ id }} className="muted">{id}</Link> : <span className="muted">{id}</span>}</>}</p>
      <Group gap="sm" align="center">
        <h1 className="grow">{run.title || run.workflow_id || "Workflow"}</h1>
        <span role="status"><RunStatus status={run.status} /></span>
        {!isRunFinished(run.status) && <Button size="compact-sm" variant="default" onClick={cancel}>Cancel the run</Button>}
      </Group>
      <p className="muted">
        {[`Started ${new Date(run.started_at).toLocaleString()}`, cost && (cost === "free" ? cost : `cost ${cost}`)].filter(Boolean).join(" · ")}
        {run.forked_from && <> · <Link to="/workflows/runs/$id" params={{ id: run.forked_from }}>forked from another run</Link></>}
      </p>
    </header>
  );
}

function InteractionLoader({ id, run }: { id: string; run: string }) {
  const i = useInteraction(id);
  if (i.data) return <InteractionView key={`${id} ${i.data.status}`} interaction={i.data} run={run} />; // kept when a later fetch fails
  return i.isError ? <p className="error" role="alert">The interaction could not be loaded: {i.error.message}</p> : <Skeleton h={240} />;
}

/** The question of a step's agent. */
function AgentQuestion({ run }: { run: string }) {
  const question = useRunRecord(run, true).data?.question as Question | undefined;
  return question ? <QuestionCard run={run} question={question} media={{}} /> : <Skeleton h={120} />;
}

/** The picture in the URL, among the pictures of the run. */
function RunMediaView({ run }: { run: string }) {
  const jobs = useSubActions(run).data?.items ?? [];
  const pictures = jobs.flatMap((j) => j.contents ?? []).filter((c) => (c.modality ?? "image") === "image").map((c) => ({ id: c.media_id, ref: "", modality: "image" as const, mime_type: "image/png" }));
  return <MediaView pictures={pictures} onUse={useInNewMessage()} />;
}
