import { Button, Group, Modal, Textarea } from "@mantine/core";
import { useState } from "react";
import { ApiError } from "../../api/client";
import { useRequestKeys } from "../../api/idempotency";
import { queryClient } from "../../api/queries";
import { workflowApi } from "../../api/workflows";
import { buildAnswer, groupsOf, selectionHint } from "../../schema/selection";
import { showError } from "../notice";
import { useInteractionContext } from "./context";

/** The answer of an interaction: continue with the selection, or approve. */
export function AnswerBar() {
  const { editor, state, run, readOnly, selection } = useInteractionContext();
  const [busy, setBusy] = useState(false);
  const [blockedAnswer, setBlockedAnswer] = useState<object>(); // an answer that running sub-actions block
  const [error, setError] = useState<ApiError>();
  const keys = useRequestKeys();
  const i = state.interaction;
  if (readOnly) return <p className="answer-bar muted" role="status">This interaction is {i.status} and cannot be changed.</p>;
  const send = async (choice: object) => {
    let body = choice;
    setBusy(true);
    setError(undefined);
    setBlockedAnswer(undefined);
    try {
      if (!(await editor.flush())) setError(new ApiError(409, "conflict", "Some edits are not saved.", "Their cards show why: choose which value to keep, then continue."));
      else {
        // A decision is about what is shown, with the person's own edits: one version when they are saved.
        if (i.interaction_type === "approval") body = { ...choice, version: Math.min(editor.state.interaction.version, i.version + (state.saveStatus === "saved" ? 0 : 1)) };
        await workflowApi.answer(i.interaction_id, body, keys.keyFor(body));
        await Promise.all([["workflow-run", run], ["interaction", i.interaction_id]].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
      }
    } catch (e) {
      keys.settle(e);
      if (e instanceof ApiError && e.code === "stale_data") await editor.reload();
      if (e instanceof ApiError && e.code === "sub_actions_running") setBlockedAnswer(choice);
      else if (e instanceof ApiError && e.status < 500 && e.status > 0) setError(e);
      else showError(e);
    }
    setBusy(false);
  };
  return (
    <footer className="answer-bar">
      {i.interaction_type === "approval" ? <Approve busy={busy} send={send} /> : <Continue busy={busy} send={send} body={buildAnswer(groupsOf(i.display_schema), selection)} hint={selectionHint(groupsOf(i.display_schema), selection)} />}
      {error && <p className="error" role="alert">{[error.message, ...error.fieldErrors.map((f) => f.detail)].join(" ")} {error.hint}</p>}
      <Modal opened={blockedAnswer !== undefined} onClose={() => setBlockedAnswer(undefined)} title="Something is still being generated">
        <p>Let it finish, and the results are recorded but do not change the next steps; or cancel it.</p>
        <Group gap="xs">
          <Button onClick={() => void send({ ...blockedAnswer, running: "keep" })} data-autofocus>Let it finish</Button>
          <Button variant="default" onClick={() => void send({ ...blockedAnswer, running: "cancel" })}>Cancel it</Button>
          <Button variant="subtle" color="gray" c="var(--text-muted)" onClick={() => setBlockedAnswer(undefined)}>Wait</Button>
        </Group>
      </Modal>
    </footer>
  );
}

function Continue({ busy, send, body, hint }: { busy: boolean; send: (body: object) => Promise<void>; body: object; hint: string | undefined }) {
  return (
    <Group gap="md">
      <Button loading={busy} disabled={hint !== undefined} onClick={() => void send(body)} aria-describedby="continue-hint">Continue</Button>
      <span id="continue-hint" className="muted">{hint ? `${hint} to continue.` : ""}</span>
    </Group>
  );
}

function Approve({ busy, send }: { busy: boolean; send: (body: object) => Promise<void> }) {
  const [comment, setComment] = useState("");
  const decide = (approved: boolean) => void send({ approved, ...(comment.trim() && { comment: comment.trim() }) });
  return (
    <div className="approve">
      <Textarea label="Comment" description="Optional; passed to the next steps." autosize minRows={1} maxRows={6} value={comment} onChange={(e) => setComment(e.currentTarget.value)} />
      <Group gap="xs"><Button loading={busy} onClick={() => decide(true)}>Approve</Button><Button variant="default" disabled={busy} onClick={() => decide(false)}>Reject</Button></Group>
    </div>
  );
}
