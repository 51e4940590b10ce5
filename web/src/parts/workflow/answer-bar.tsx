import { Button, Group, Modal, Textarea } from "@mantine/core";
import { useRef, useState } from "react";
import { ApiError, idempotencyKey } from "../../api/client";
import { queryClient } from "../../api/queries";
import { workflowApi } from "../../api/workflows";
import { buildAnswer, groupsOf, selectionHint } from "../../schema/selection";
import { showProblem } from "../notice";
import { useShared } from "./context";

/** The answer of an interaction: continue with the selection, or approve. */
export function AnswerBar() {
  const { desk, state, run, fixed, choice } = useShared();
  const [busy, setBusy] = useState(false);
  const [asked, setAsked] = useState<object>(); // an answer that running sub-actions block
  const [problem, setProblem] = useState<ApiError>();
  const key = useRef({ body: "", key: "" }); // an answer whose response was lost is sent again with the same key
  const i = state.interaction;
  if (fixed) return <p className="answer-bar soft" role="status">This is {i.status}: nothing more can be changed.</p>;
  const send = async (body: object) => {
    setBusy(true);
    setProblem(undefined);
    setAsked(undefined);
    const text = JSON.stringify(body);
    if (key.current.body !== text) key.current = { body: text, key: idempotencyKey() };
    try {
      if (!(await desk.flush())) setProblem(new ApiError(409, "conflict", "Some edits are not saved.", "Their cards say why: decide, then continue."));
      else {
        await workflowApi.answer(i.interaction_id, body, key.current.key);
        await Promise.all([["workflow-run", run], ["interaction", i.interaction_id]].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
      }
    } catch (e) {
      if (!(e instanceof ApiError) || e.status !== 0) key.current = { body: "", key: "" };
      if (e instanceof ApiError && e.code === "sub_actions_running") setAsked(body);
      else if (e instanceof ApiError && e.status < 500 && e.status > 0) setProblem(e);
      else showProblem(e);
    }
    setBusy(false);
  };
  return (
    <footer className="answer-bar">
      {i.interaction_type === "approval" ? <Approve busy={busy} send={send} /> : <Continue busy={busy} send={send} body={buildAnswer(groupsOf(i.display_schema), choice)} lack={selectionHint(groupsOf(i.display_schema), choice)} />}
      {problem && <p className="bad" role="alert">{[problem.message, ...problem.fieldErrors.map((f) => f.detail)].join(" ")} {problem.hint}</p>}
      <Modal opened={asked !== undefined} onClose={() => setAsked(undefined)} title="Something is still being generated">
        <p>It can finish and be recorded without changing the next steps, or it can be cancelled.</p>
        <Group gap="xs">
          <Button onClick={() => void send({ ...asked, running: "keep" })} data-autofocus>Let it finish</Button>
          <Button variant="default" onClick={() => void send({ ...asked, running: "cancel" })}>Stop it</Button>
          <Button variant="subtle" color="gray" c="var(--soft)" onClick={() => setAsked(undefined)}>Wait</Button>
        </Group>
      </Modal>
    </footer>
  );
}

function Continue({ busy, send, body, lack }: { busy: boolean; send: (body: object) => Promise<void>; body: object; lack: string | undefined }) {
  return (
    <Group gap="md">
      <Button loading={busy} disabled={lack !== undefined} onClick={() => void send(body)} aria-describedby="continue-lack">Continue</Button>
      <span id="continue-lack" className="soft">{lack ? `${lack} to continue.` : ""}</span>
    </Group>
  );
}

function Approve({ busy, send }: { busy: boolean; send: (body: object) => Promise<void> }) {
  const [comment, setComment] = useState("");
  const give = (approved: boolean) => void send({ approved, ...(comment.trim() && { comment: comment.trim() }) });
  return (
    <div className="approve">
      <Textarea label="Comment" description="Optional; the steps that follow get it." autosize minRows={1} maxRows={6} value={comment} onChange={(e) => setComment(e.currentTarget.value)} />
      <Group gap="xs"><Button loading={busy} onClick={() => give(true)}>Approve</Button><Button variant="default" disabled={busy} onClick={() => give(false)}>Reject</Button></Group>
    </div>
  );
}
