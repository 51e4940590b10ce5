import { memo } from "react";
import { useRun, useRunRecord, useRunStore } from "../api/queries";
import type { Media, Question, Run, Status } from "../api/contract";
import { useSettings } from "../api/settings";
import { isRunFinished, newRun } from "../schema/run";
import type { RunState } from "../schema/run";
import { mediaRefs } from "../schema/format";
import type { Exchange } from "../schema/thread";
import { AnswerFooter } from "./answer-footer";
import { agentLabel } from "./agent-model-menus";
import { MessageText } from "./markdown";
import { MediaItems } from "./media-item";
import { QuestionCard } from "./question";
import { Report } from "./report";
import { Steps } from "./steps";
import { Trace } from "./trace";

interface Props { exchange: Exchange; onResend: (x: Exchange) => void; onRetried: () => void }

/** A person's message and its answer. */
export const ExchangeView = memo(function ExchangeView({ exchange: x, onResend, onRetried }: Props) {
  const { developer } = useSettings();
  const store = useRunStore();
  const run = useRun(x.runId, !isRunFinished(x.status) || developer);
  const record = useRunRecord(x.runId, x.status !== "running").data;
  const media = mediaByRef(x, run, record);
  const text = run?.text || x.answer?.text || record?.answer || "";
  const status = run?.status ?? x.status;
  const report = isRunFinished(status) && (x.answer?.report || record?.report || false);
  const remaining = remainingMedia(x, run, record, report, text);
  const question = status === "paused" ? (run?.questions[0] ?? (record?.question as Question | undefined)) : undefined;
  const agent = run?.agentName ?? x.agent ?? record?.agent ?? "";
  const state = run?.startedAt ? run : stateOfRecord(x, status, record);
  return (
    <article className="exchange" aria-label={x.text.slice(0, 80) || "Exchange"}>
      {(x.text || x.attachments.length > 0) && (
        <div className="user-message">
          {x.attachments.length > 0 && <div className="message-media"><MediaItems media={x.attachments} /></div>}
          {x.text && <div className="user-message-text" dir="auto">{x.text}</div>}
        </div>
      )}
      <div className="answer" aria-busy={status === "running"}>
        <div className="answer-author"><span className="answer-avatar" aria-hidden>{agentLabel(agent || "Sage").charAt(0)}</span>{agentLabel(agent || "Answer")}</div>
        {state && <Steps run={state} onOpen={() => store.replay(x.runId)} />}
        {text && <MessageText text={text} media={media} pending={status === "running"} />}
        {question && <QuestionCard run={x.runId} question={question} media={media} />}
        {report && <Report run={x.runId} title={x.text || "report"} />}
        {remaining.length > 0 && isRunFinished(status) && <section className="remaining-media" aria-label="Also made">{(text || report) && <h3>Also made</h3>}<MediaItems media={remaining} /></section>}
        {isRunFinished(status) && <AnswerFooter exchange={x} run={run} record={record} text={text} media={media} status={status} onResend={onResend} onRetried={onRetried} />}
        {developer && run?.startedAt && <Trace run={run} events={store.log(x.runId)?.events ?? []} />}
      </div>
    </article>
  );
});

/** The media that the run made and that neither the text nor the report shows. A report shows the promoted
 * media. A record also lists the run's inputs, which are older and are left out. */
export function remainingMedia(x: Exchange, run: RunState | undefined, record: Run | undefined, report: boolean, text: string): Media[] {
  const chosen = [...(run?.promoted ?? []).flatMap((r) => run?.media[r] ?? []), ...(x.answer?.attachments ?? [])];
  const shown = new Set([...mediaRefs(text), ...[...x.attachments, ...(report ? chosen : [])].map((m) => m.ref)]);
  const all = [...chosen, ...(record?.media ?? []).filter((m) => Date.parse(m.created_at ?? "") >= Date.parse(record?.started_at ?? ""))].filter((m) => !shown.has(m.ref));
  return [...new Map(all.map((m) => [m.ref, m])).values()];
}

/** All media that the texts of an exchange may refer to, by ref. */
function mediaByRef(x: Exchange, run: RunState | undefined, record: Run | undefined): Record<string, Media> {
  const listed = [...x.attachments, ...(x.answer?.attachments ?? []), ...(record?.media ?? [])];
  return { ...(run?.media ?? {}), ...Object.fromEntries(listed.map((m) => [m.ref, m])) };
}

/** The head of the steps of a run whose events this tab has not requested. It is shown before the
 * run's record arrives, so that the layout does not shift. */
function stateOfRecord(x: Exchange, status: Status, record: Run | undefined): RunState | undefined {
  if (!isRunFinished(status)) return undefined;
  return { ...newRun(x.runId), status, ...(record?.started_at && record.ended_at && { startedAt: Date.parse(record.started_at), endedAt: Date.parse(record.ended_at) }) };
}
