import "../parts/workflow/workflow.css";
import { Skeleton } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { isNotFound } from "../api/client";
import { useWorkflow } from "../api/workflow-queries";
import type { Workflow } from "../api/workflows";
import { NotFound } from "../parts/not-found";
import { WorkflowView } from "../parts/workflow/definition";

const template: Workflow = {
  id: "new", title: "A new workflow", steps: [],
  text: `{
  "id": "my-workflow",
  "title": "My workflow",
  "stand_in": "offline",
  "state_schema": {
    "type": "object",
    "required": ["brief"],
    "properties": { "brief": { "type": "string", "minLength": 1 } }
  },
  "steps": [
    {
      "id": "generate",
      "module_id": "media.generation",
      "inputs": {
        "title": "Choose a picture",
        "data": { "leonardo": { "phoenix_1_0": "{{ state.brief }}" } }
      }
    }
  ]
}
`,
};

/** One workflow: its description, a form to start it, and its definition, which can be edited. */
export default function WorkflowPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  return id === "new" ? <WorkflowView key="new" workflow={template} isStored={false} /> : <StoredWorkflow key={id} id={id} />;
}

function StoredWorkflow({ id }: { id: string }) {
  const workflow = useWorkflow(id);
  if (workflow.data) return <WorkflowView workflow={workflow.data} isStored />; // kept when a later fetch fails
  if (!workflow.isError) return <div className="workflows"><Skeleton h={160} /></div>;
  const isMissing = isNotFound(workflow.error);
  return <NotFound title={isMissing ? "Workflow not found" : "The workflow could not be loaded"}><p>{isMissing ? `The server has no workflow “${id}”.` : workflow.error.message}</p><Link to="/workflows">Show all workflows</Link></NotFound>;
}
