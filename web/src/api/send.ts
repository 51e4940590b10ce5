// Sends a draft as a run of a conversation.
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState, useSyncExternalStore } from "react";
import { showProblem } from "../parts/notice";
import type { Sent } from "../schema/thread";
import { Refusal, api, idempotencyKey } from "./client";
import type { Draft } from "./draft";
import { queries, useAgents, useLive } from "./queries";
import { useSettings } from "./settings";

const sent = new Map<string, Sent[]>();
const none: Sent[] = [];
const watchers = new Set<() => void>();

/** The messages that this tab sent to a conversation. */
export function useSent(conversation: string): Sent[] {
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
  const live = useLive();
  const send = async () => {
    const media = draft.attached.flatMap((a) => a.media ?? []);
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
      const place = started.conversation_id ?? conversation;
      sent.set(place, [...(sent.get(place) ?? []), { runId: started.id, text: run.message, attachments: media, at: new Date().toISOString() }]);
      for (const f of watchers) f();
      live.replay(started.id);
      draft.clear();
      void queries.invalidateQueries({ queryKey: ["conversations"] });
      if (conversation === "new") await navigate({ to: "/c/$id", params: { id: place } });
      else void queries.invalidateQueries({ queryKey: ["conversation", place] });
    } catch (e) {
      if (!(e instanceof Refusal) || e.status !== 0) key.current = { body: "", key: "" };
      showProblem(e);
    } finally {
      setSending(false);
    }
  };
  return { send: () => void send(), sending };
}
