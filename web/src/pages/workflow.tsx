import "../parts/workflow/workflow.css";
import { Skeleton } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { isNotFound } from "../api/client";
import { useWorkflow } from "../api/workflow-queries";
import type { Workflow } from "../api/workflows";
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
  return workflow.isError ? <div className="column not-found"><h1>{isNotFound(workflow.error) ? "Workflow not found" : "The workflow could not be loaded"}</h1><p className="muted">{workflow.error.message}</p></div> : <div className="workflows"><Skeleton h={160} /></div>;
}
