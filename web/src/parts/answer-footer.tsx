import { ActionIcon, Alert, Button, CopyButton, Tooltip } from "@mantine/core";
import { IconAlertCircle, IconCheck, IconCopy, IconGitBranch, IconPencil, IconPlayerStop, IconRefresh } from "@tabler/icons-react";
import { useNavigate, useParams } from "@tanstack/react-router";
import { api } from "../api/client";
import type { Failure, Media, Run, Status } from "../api/contract";
import { queryClient, useRunStore } from "../api/queries";
import type { RunState } from "../schema/run";
import { formatCost, formatTokens, plainText } from "../schema/format";
import type { Exchange } from "../schema/thread";
import { useBusy } from "./busy";

interface Props {
  exchange: Exchange;
  run: RunState | undefined;
  record: Run | undefined;
  text: string;
  media: Record<string, Media>;
  status: Status;
  onResend: (x: Exchange) => void;
  onRetried: () => void;
}

/** The status, cost and commands of an answer. */
export function AnswerFooter({ exchange, run, record, text, media, status, onResend, onRetried }: Props) {
  const facts = [formatCost(record?.cost ?? run?.cost), formatTokens(record?.tokens ?? run?.usage)].filter(Boolean);
  const warnings = record?.warnings ?? run?.warnings ?? [];
  return (
    <>
      {status === "failed" && <Failed failure={run?.failure ?? record?.error ?? exchange.answer?.error} text={text} />}
      {status === "cancelled" && <p className="stopped"><IconPlayerStop size={15} aria-hidden />Stopped. What was made is kept.</p>}
      {warnings.length > 0 && (
        <details className="warnings">
          <summary>{warnings.length === 1 ? "1 note" : `${warnings.length} notes`}</summary>
          <ul>{warnings.map((w) => <li key={w}>{w}</li>)}</ul>
        </details>
      )}
      <div className="answer-footer">
        {text && (
          <CopyButton value={plainText(text, media)}>
            {({ copied, copy }) => <Tooltip label={copied ? "Copied" : "Copy the text"}><ActionIcon size={30} aria-label="Copy the text" onClick={copy}>{copied ? <IconCheck size={16} /> : <IconCopy size={16} />}</ActionIcon></Tooltip>}
          </CopyButton>
        )}
        <Tooltip label="Edit the question"><ActionIcon size={30} aria-label="Edit the question" onClick={() => onResend(exchange)}><IconPencil size={16} /></ActionIcon></Tooltip>
        {exchange.answer && <Fork after={exchange.answer.id} />}
        {status !== "succeeded" && <Retry exchange={exchange} onRetried={onRetried} />}
        <span className="grow" />
        {facts.length > 0 && <span className="answer-totals">{facts.join(" · ")}</span>}
      </div>
    </>
  );
}

function Failed({ failure, text }: { failure: Failure | undefined; text: string }) {
  const message = failure?.message || (text ? "" : "No reason was given.");
  if (!message) return null;
  return (
    <Alert className="failed" icon={<IconAlertCircle size={18} />} title="This did not work" role="note">
      {message}
    </Alert>
  );
}

/** Continues from an answer in a new conversation. */
function Fork({ after }: { after: string }) {
  const [busy, whileBusy] = useBusy();
  const navigate = useNavigate();
  const { id } = useParams({ strict: false });
  if (!id) return null;
  const fork = () => whileBusy(async () => {
    const forked = await api.fork(id, after);
    void queryClient.invalidateQueries({ queryKey: ["conversations"] });
    await navigate({ to: "/c/$id", params: { id: forked.id } });
  });
  return <Tooltip label="Fork: continue from this answer in a new conversation"><ActionIcon size={30} aria-label="Fork from this answer" loading={busy} onClick={() => void fork()}><IconGitBranch size={16} /></ActionIcon></Tooltip>;
}

function Retry({ exchange, onRetried }: { exchange: Exchange; onRetried: Props["onRetried"] }) {
  const [busy, whileBusy] = useBusy();
  const store = useRunStore();
  const retry = () => whileBusy(async () => {
    const started = await api.retry(exchange.runId);
    store.replay(started.id, true);
    onRetried();
  });
  return <Button size="compact-sm" variant="default" leftSection={<IconRefresh size={15} />} loading={busy} onClick={() => void retry()}>Try again</Button>;
}
