import { Button, Group, Skeleton } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Suspense, lazy, useEffect, useState } from "react";
import { ApiError } from "../../api/client";
import { useRequestKeys } from "../../api/idempotency";
import type { FieldError } from "../../api/contract";
import { workflowApi } from "../../api/workflows";
import type { Workflow, WorkflowCheck } from "../../api/workflows";
import { covers } from "../../schema/pointer";
import type { JSONObject, JSONValue } from "../../schema/pointer";
import { formErrors } from "../../schema/validator";
import { showError } from "../notice";
import { InteractionView } from "./interaction";
import { TextEditor } from "./text-editor";

const DataForm = lazy(() => import("./data-form"));

interface Props { workflow: Workflow; /** Whether the server has the workflow under its id. */ isStored: boolean }

/** A form to start a workflow, its definition with problems at their lines, and a preview of the first interaction. */
export function WorkflowView({ workflow, isStored }: Props) {
  const initial = workflow.text ?? JSON.stringify(workflow.definition ?? {}, null, 2);
  const [edited, setText] = useState<string>();
  const text = edited ?? initial; // a file that changes is followed until its text is edited here
  const [state, setState] = useState<JSONValue>({});
  const [debounced] = useDebouncedValue(JSON.stringify([text, state]), 400);
  const [checkedText, checkedState] = JSON.parse(debounced) as [string, JSONValue];
  const check = useQuery({ queryKey: ["check", debounced], queryFn: async () => ({ ...(await workflowApi.check(checkedText, checkedState)), text: checkedText }), placeholderData: (before) => before, retry: false });
  const parsed = check.data?.workflow ?? workflow;
  const isUnchanged = isStored && text === initial;
  useEffect(() => { document.title = `${parsed.title || "Workflow"} · Atelier`; }, [parsed.title]);
  return (
    <div className="workflows">
      <p><Link to="/workflows" className="muted">Workflows</Link></p>
      <h1>{parsed.title}</h1>
      {parsed.description && <p className="muted">{parsed.description}</p>}
      <ol className="workflow-steps">{parsed.steps.map((s) => <li key={s.id}><b>{s.title || s.id}</b> <span className="muted">{s.module_id}</span></li>)}</ol>
      <Start workflow={parsed} isUnchanged={isUnchanged} isChecked={isUnchanged || check.data?.text === text} hasProblems={(check.data?.problems.length ?? 0) > 0} state={state} onState={setState} />
      <section aria-labelledby="definition">
        <h2 id="definition">Definition</h2>
        <p className="muted">JSON or YAML, checked as you type. Your changes apply to runs that you start here, and are not saved.</p>
        <TextEditor name="Definition" value={text} onChange={setText} problems={check.data?.problems ?? []} />
        {check.isError && <p className="error" role="alert">It could not be checked: {check.error.message}</p>}
      </section>
      <Preview check={check.data} id={debounced} />
    </div>
  );
}

function Preview({ check, id }: { check: WorkflowCheck | undefined; id: string }) {
  return (
    <section aria-labelledby="preview" className="preview">
      <h2 id="preview">Preview of the first interaction</h2>
      {check?.preview
        ? <InteractionView key={id} interaction={{ ...check.preview, interaction_id: check.preview.interaction_id || "preview" }} run="" preview />
        : <p className="muted">{check && check.problems.length > 0 ? "It is shown once the definition has no problems." : "There is a preview if the first step is an interaction and the form above is complete."}</p>}
    </section>
  );
}

interface StartProps { workflow: Workflow; isUnchanged: boolean; /** Whether the workflow is the definition as it is typed now. */ isChecked: boolean; hasProblems: boolean; state: JSONValue; onState: (state: JSONValue) => void }

/** Starts a run with the entered state. */
function Start({ workflow, isUnchanged, isChecked, hasProblems, state, onState }: StartProps) {
  const [busy, setBusy] = useState(false);
  const [fieldErrors, setFieldErrors] = useState<FieldError[]>([]);
  const keys = useRequestKeys();
  const navigate = useNavigate();
  const schema = (workflow.state_schema ?? { type: "object" }) as JSONObject;
  const isIncomplete = formErrors(schema, state).length > 0;
  const start = async () => {
    const body = { ...(isUnchanged ? { workflow_id: workflow.id } : { definition: workflow.definition }), state };
    setBusy(true);
    try {
      const run = await workflowApi.start(body, keys.keyFor(body));
      keys.settle();
      await navigate({ to: "/workflows/runs/$id", params: { id: run.id } });
    } catch (e) {
      keys.settle(e);
      const ofState = e instanceof ApiError ? e.fieldErrors.filter((f) => covers("/state", f.pointer)) : [];
      setFieldErrors(ofState.map((f) => ({ ...f, pointer: f.pointer.slice("/state".length) })));
      if (ofState.length === 0) showError(e);
      setBusy(false);
    }
  };
  return (
    <section aria-label="Start" className="wf-start">
      {schema["properties"] !== undefined && <Suspense fallback={<Skeleton h={80} />}><DataForm schema={schema} value={state} pristine={Object.keys(state ?? {}).length === 0} fieldErrors={fieldErrors} onChange={(v) => { setFieldErrors([]); onState(v ?? {}); }} /></Suspense>}
      {hasProblems && <p className="wf-conflict">Correct the problems in the definition to start the workflow.</p>}
      <Group gap="sm">
        <Button loading={busy} disabled={hasProblems || isIncomplete || !isChecked} onClick={() => void start()} aria-describedby="start-hint">Start</Button>
        <span id="start-hint" className="muted">{isIncomplete && !hasProblems && "Complete the form to start."}</span>
      </Group>
    </section>
  );
}
