import { Button, Group, Skeleton } from "@mantine/core";
import { Suspense, lazy } from "react";
import type { FieldError } from "../../api/contract";
import { covers, get, pathOf, pointerOf } from "../../schema/pointer";
import type { JSONValue } from "../../schema/pointer";
import { findNode } from "../../schema/view";
import type { Node } from "../../schema/view";
import { useInteractionContext, useValue } from "./context";
import type { NodeProps } from "./context";
import { Heading } from "./heading";
import { Results } from "./results";
import { SubActionView } from "./sub-action";

const DataForm = lazy(() => import("./data-form"));

/** A part with inputs, its sub-actions, and their results below. */
export function Card({ node, level }: NodeProps) {
  const { editor, readOnly } = useInteractionContext();
  const value = useValue(node);
  const fieldErrors = useFieldErrors(node);
  return (
    <article className="wf-card" aria-label={node.label || node.key}>
      <Heading level={level}>{node.label}</Heading>
      {node.form && (
        <Suspense fallback={<Skeleton h={96} />}>
          <DataForm schema={node.form.schema} layout={node.form.layout} value={value} fieldErrors={fieldErrors} disabled={readOnly} {...(node.type === "string" && { label: "Prompt" })} onChange={(v) => editor.edit(node.pointer, v)} />
        </Suspense>
      )}
      <Conflict node={node} />
      {(node.sub_actions ?? []).map((a) => <SubActionView key={a.id} node={node} action={a} value={value} />)}
      <CardResults node={node} />
    </article>
  );
}

/** The server's errors for the newest edit of this form. */
function useFieldErrors(node: Node): FieldError[] {
  const { state } = useInteractionContext();
  return (state.error?.fieldErrors ?? []).filter((f) => covers(node.pointer, f.pointer)).map((f) => ({ ...f, pointer: f.pointer.slice(node.pointer.length) }));
}

/** Results are shown below their card. */
function CardResults({ node }: { node: Node }) {
  const { state } = useInteractionContext();
  const targets = new Set((node.sub_actions ?? []).map((a) => pointerOf(a.result_target)));
  return <>{[...targets].map((t) => { const found = findNode(state.interaction.view, t); return found && <Results key={t} node={found} name={node.label || node.key} />; })}</>;
}

/** A conflict between two people or tabs, which a person resolves. */
function Conflict({ node }: { node: Node }) {
  const { editor, state } = useInteractionContext();
  const here = state.conflicts.filter((p) => covers(node.pointer, p));
  if (here.length === 0) return null;
  return (
    <div className="wf-conflict" role="alert">
      <p><b>Changed elsewhere during your edit</b></p>
      {here.map((p) => (
        <dl key={p} className="facts">
          <dt>{pathOf(p).at(-1)}, theirs</dt><dd>{text(get(state.interaction.display_data, pathOf(p)))}</dd>
          <dt>Yours</dt><dd>{text(state.edits.drafts.get(p))}</dd>
        </dl>
      ))}
      <Group gap="xs">
        <Button size="compact-sm" onClick={() => void editor.resolveConflicts(here, true)}>Keep mine</Button>
        <Button size="compact-sm" variant="default" onClick={() => void editor.resolveConflicts(here, false)}>Take theirs</Button>
      </Group>
    </div>
  );
}

const text = (v: JSONValue | undefined) => (v === undefined ? "nothing" : typeof v === "string" ? v : JSON.stringify(v));
