import { Button, Group, Skeleton, Stack, TextInput } from "@mantine/core";
import { Suspense, lazy, useState } from "react";
import { ApiError, api } from "../api/client";
import type { FieldError, Media, Question } from "../api/contract";
import { queryClient } from "../api/queries";
import { MessageText } from "./markdown";
import { showError } from "./notice";

const SchemaForm = lazy(() => import("./schema-form"));

interface Props { run: string; question: Question; media: Record<string, Media> }

/** The question of a paused run, with a form for the answer. What was entered for one question is not kept for the next. */
export function QuestionCard(props: Props) {
  return <Card key={props.question.id} {...props} />;
}

function Card({ run, question, media }: Props) {
  const [busy, setBusy] = useState(false);
  const [fieldErrors, setFieldErrors] = useState<FieldError[]>([]);
  const send = async (body: object) => {
    setBusy(true);
    setFieldErrors([]);
    try {
      await api.answer(run, { ...body, ...(question.id && { question: question.id }) });
      await queryClient.invalidateQueries({ queryKey: ["run", run] });
    } catch (e) {
      if (e instanceof ApiError && e.fieldErrors.length > 0) setFieldErrors(e.fieldErrors);
      else showError(e);
    }
    setBusy(false);
  };
  const cancelRun = () => api.cancel(run).catch(showError);
  const isApproval = question.kind === "approval" || question.kind === "guardrail";
  return (
    <section className="question" aria-label={isApproval ? "Approval" : "Question"}>
      <MessageText text={question.question ?? question.text ?? "The agent needs your answer."} media={media} pending={false} />
      {isApproval ? <Approval question={question} busy={busy} send={send} onCancel={cancelRun} /> : (
        <Suspense fallback={<Skeleton h={120} />}>
          <SchemaForm schema={question.schema} busy={busy} submit="Answer" fieldErrors={fieldErrors} onSubmit={(answer) => void send({ answer })}>
            <Button variant="subtle" color="gray" c="var(--text-muted)" onClick={cancelRun}>Cancel the run</Button>
          </SchemaForm>
        </Suspense>
      )}
    </section>
  );
}

interface ApprovalProps { question: Question; busy: boolean; send: (body: object) => Promise<void>; onCancel: () => void }

function Approval({ question, busy, send, onCancel }: ApprovalProps) {
  const [note, setNote] = useState("");
  const d = question.details;
  const answer = (approve: boolean) => void send({ approve, ...(note.trim() && { note: note.trim() }) });
  return (
    <Stack gap="sm">
      {d && (
        <dl className="facts">
          {d.action && <><dt>Action</dt><dd>{d.action}</dd></>}
          {d.reason && <><dt>Why</dt><dd>{d.reason}</dd></>}
          <dt>Estimated cost</dt><dd>{d.estimated_usd ? `$${d.estimated_usd}` : d.estimate || "not known"}</dd>
          {d.params !== undefined && <><dt>Parameters</dt><dd><pre tabIndex={0}>{JSON.stringify(d.params, null, 2)}</pre></dd></>}
        </dl>
      )}
      <TextInput label="Note" description="Optional; the agent reads it." value={note} onChange={(e) => setNote(e.currentTarget.value)} />
      <Group gap="xs">
        <Button loading={busy} onClick={() => answer(true)}>Approve</Button>
        <Button variant="default" disabled={busy} onClick={() => answer(false)}>Deny</Button>
        <Button variant="subtle" color="gray" c="var(--text-muted)" onClick={onCancel}>Cancel the run</Button>
      </Group>
    </Stack>
  );
}
