import { ActionIcon, Skeleton, Text, Tooltip } from "@mantine/core";
import { IconArrowDown } from "@tabler/icons-react";
import { Link, useParams } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo } from "react";
import { api, isNotFound } from "../api/client";
import { useDraft } from "../api/draft";
import { queryClient, useConversation, useRunStore } from "../api/queries";
import { useSend, useSentMessages } from "../api/send";
import { Composer } from "../parts/composer";
import { DropArea } from "../parts/drop-area";
import { ExchangeView } from "../parts/exchange";
import { MediaView } from "../parts/media-view";
import { NotFound } from "../parts/not-found";
import { showError } from "../parts/notice";
import { useStickToEnd } from "../parts/stick-to-end";
import { Windowed } from "../parts/windowed";
import { isRunFinished } from "../schema/run";
import { formatCost, formatTokens } from "../schema/format";
import { buildExchanges } from "../schema/thread";
import type { Exchange } from "../schema/thread";

export function ConversationPage() {
  const { id } = useParams({ from: "/c/$id" });
  return <ConversationView key={id} id={id} />;
}

function ConversationView({ id }: { id: string }) {
  const conversation = useConversation(id);
  const store = useRunStore();
  const sent = useSentMessages(id);
  const runs = store.runsOf(id);
  const exchanges = buildExchanges(conversation.data?.messages ?? [], runs, sent);
  const draft = useDraft(id);
  const { send, sending } = useSend(draft, id);
  const running = exchanges.filter((x) => x.status === "running");
  const active = running.map((x) => x.runId).join(" ");
  const stop = useStopRuns(active);
  const follow = useStickToEnd(`${exchanges.length}`, store.snapshot());
  const title = conversation.data?.title || exchanges[0]?.text || "Conversation";
  useEffect(() => { document.title = `${title.slice(0, 60)} · Atelier`; }, [title]);
  const resend = useCallback((x: Exchange) => {
    draft.addText(x.text);
    for (const m of x.attachments) draft.attachMedia(m);
    document.getElementById("message")?.focus();
  }, [draft.addText, draft.attachMedia]);
  const retried = useCallback(() => { void queryClient.invalidateQueries({ queryKey: ["conversation", id] }); }, [id]);
  if (isNotFound(conversation.error) && exchanges.length === 0) return <NotFound title="Conversation not found"><p>It was deleted, or it belongs to another owner. <Link to="/">Start a new one</Link>.</p></NotFound>;
  return (
    <>
      <header className="conversation-header">
        <h1 title={title} dir="auto">{title}</h1>
        <Text size="sm" c="dimmed" className="conversation-totals">{[formatCost(conversation.data?.cost), formatTokens(conversation.data?.tokens)].filter(Boolean).join(" · ")}</Text>
      </header>
      <div className="column thread">
        {conversation.isPending && exchanges.length === 0 && <Skeletons />}
        {conversation.isError && !conversation.data && <p className="error" role="alert">The conversation could not be loaded: {conversation.error.message}</p>}
        {exchanges.map((x, i) => (
          <Windowed key={x.runId} estimatedHeight={640} eager={i >= exchanges.length - 2} keepMounted={!isRunFinished(x.status)}>
            {() => <ExchangeView exchange={x} onResend={resend} onRetried={retried} />}
          </Windowed>
        ))}
      </div>
      <div className="composer-dock">
        <div className="column">
          {follow.isAway && <Tooltip label="Jump to the latest"><ActionIcon className="scroll-to-end" variant="default" radius="xl" size={36} aria-label="Jump to the latest" onClick={follow.scrollToEnd}><IconArrowDown size={18} /></ActionIcon></Tooltip>}
          <Composer draft={draft} onSend={() => { send(); follow.scrollToEnd(); }} sending={sending} onStop={active ? stop : undefined} autoFocus />
        </div>
      </div>
      <DropArea onFiles={draft.attach} />
      <MediaView exchanges={exchanges} runs={runs} onUse={draft.attachMedia} />
    </>
  );
}

/** Returns the function that stops the runs; Escape also calls it when nothing is open. */
function useStopRuns(active: string): () => void {
  const stop = useCallback(() => {
    for (const run of active.split(" ").filter(Boolean)) api.cancel(run).catch(showError);
  }, [active]);
  useEffect(() => {
    if (!active) return;
    const key = (e: KeyboardEvent) => {
      if (e.key !== "Escape" || e.defaultPrevented || e.isComposing) return;
      const t = e.target as HTMLElement | null;
      const inside = t?.closest("[role=dialog], [role=menu], [role=listbox], .yarl__root, input, form:not(.composer)");
      if (!inside && !document.querySelector(".yarl__portal, [role=menu], [role=dialog]")) stop();
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, [active, stop]);
  return stop;
}

function Skeletons() {
  return useMemo(() => <div className="exchange" aria-hidden><Skeleton h={40} w="45%" ml="auto" radius="lg" mb={28} /><Skeleton h={14} w="90%" mb={10} /><Skeleton h={14} w="75%" mb={10} /><Skeleton h={14} w="40%" /></div>, []);
}
