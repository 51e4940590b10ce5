import "../parts/workflow/workflow.css";
import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { useWorkflowRuns, useWorkflows } from "../api/workflow-queries";
import type { Workflow } from "../api/workflows";
import { RunStatus } from "../parts/workflow/run-status";

/** The server's workflows and their runs. */
export default function WorkflowsPage() {
  const list = useWorkflows();
  useEffect(() => { document.title = "Workflows · Atelier"; }, []);
  return (
    <div className="workflows">
      <header className="workflows-head"><h1 className="grow">Workflows</h1><Button variant="default" renderRoot={(p) => <Link {...p} to="/workflows/$id" params={{ id: "new" }} />}>New workflow</Button></header>
      {list.isError && <Text c="var(--text-muted)">The list could not be loaded: {list.error.message}</Text>}
      <ul className="workflow-list">{list.data?.items.map((w) => <li key={w.id}><Item workflow={w} /></li>)}</ul>
      <Runs />
    </div>
  );
}

function Item({ workflow: w }: { workflow: Workflow }) {
  if (w.problem) return <div className="workflow-item" data-problem><b>{w.title || w.id}</b><span className="error">This file has a mistake and cannot run: {w.problem}</span></div>;
  return (
    <Link to="/workflows/$id" params={{ id: w.id }} className="workflow-item">
      <b>{w.title || w.id}</b>
      {w.description && <span>{w.description}</span>}
      <span className="muted">{w.steps.map((s) => s.title || s.id).join(" → ")}</span>
    </Link>
  );
}

function Runs() {
  const list = useWorkflowRuns();
  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <section aria-labelledby="runs">
      <h2 id="runs">Runs</h2>
      {list.isError && <p className="muted">The runs could not be loaded: {list.error.message}</p>}
      {list.isSuccess && items.length === 0 && <p className="muted">Runs that you start are listed here.</p>}
      <ul className="run-list">
        {items.map((r) => (
          <li key={r.id}>
            <Link to="/workflows/runs/$id" params={{ id: r.id }} className="run-item"><span className="grow">{r.title || r.workflow_id || r.id}</span><span className="muted">{new Date(r.started_at).toLocaleString()}</span><RunStatus status={r.status} /></Link>
          </li>
        ))}
      </ul>
      {list.hasNextPage && <Button variant="subtle" color="gray" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Show older</Button>}
    </section>
  );
}
