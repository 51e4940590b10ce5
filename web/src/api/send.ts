// Sends a draft as a run of a conversation.
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState, useSyncExternalStore } from "react";
import { showProblem } from "../parts/notice";
import type { SentMessage } from "../schema/thread";
import { ApiError, api, idempotencyKey } from "./client";
import type { Draft } from "./draft";
import { queryClient, useAgents, useRunStore } from "./queries";
import { useSettings } from "./settings";

const sent = new Map<string, SentMessage[]>();
const none: SentMessage[] = [];
const watchers = new Set<() => void>();

/** The messages that this tab sent to a conversation. */
export function useSentMessages(conversation: string): SentMessage[] {
  return useSyncExternalStore((f) => { watchers.add(f); return () => watchers.delete(f); }, () => sent.get(conversation) ?? none);
}

/** Returns the function that sends a draft, and whether it is being sent. A request whose response was lost
 * is sent again with the same key, so that nothing runs twice. */
export function useSend(draft: Draft, conversation: string): { send: () => void; sending: boolean } {
  const [sending, setSending] = useState(false);
  const key = useRef({ body: "", key: "" });
  const settings = useSettings();
  const agents = useAgents().data?.items ?? [];
  const navigate = useNavigate();
  const store = useRunStore();
  const send = async () => {
    const media = draft.attachments.flatMap((a) => a.media ?? []);
    const known = agents.some((a) => (a.slug ?? a.name) === settings.agent);
    const run = {
      agent: known ? settings.agent : "sage", message: draft.text.trim(), conversation_id: conversation,
      images: media.filter((m) => m.modality === "image").map((m) => ({ media_id: m.id })),
      files: media.filter((m) => m.modality !== "image").map((m) => ({ media_id: m.id })),
      ...(settings.model && { model: settings.model }), ...(settings.imageModel && { image_model: settings.imageModel }),
    };
    const body = JSON.stringify(run);
    if (key.current.body !== body) key.current = { body, key: idempotencyKey() };
    setSending(true);
    try {
      const started = await api.start(run, key.current.key);
      key.current = { body: "", key: "" };
      const target = started.conversation_id ?? conversation;
      sent.set(target, [...(sent.get(target) ?? []), { runId: started.id, text: run.message, attachments: media, at: new Date().toISOString() }]);
      for (const f of watchers) f();
      store.replay(started.id);
      draft.clear();
      void queryClient.invalidateQueries({ queryKey: ["conversations"] });
      if (conversation === "new") await navigate({ to: "/c/$id", params: { id: target } });
      else void queryClient.invalidateQueries({ queryKey: ["conversation", target] });
    } catch (e) {
      if (!(e instanceof ApiError) || e.status !== 0) key.current = { body: "", key: "" };
      showProblem(e);
    } finally {
      setSending(false);
    }
  };
  return { send: () => void send(), sending };
}
