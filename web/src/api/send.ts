// Sends a draft as a run of a conversation.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { showError } from "../parts/notice";
import type { SentMessage } from "../schema/thread";
import { api } from "./client";
import type { Draft } from "./draft";
import { useRequestKeys } from "./idempotency";
import { queryClient, useAgents, useRunStore } from "./queries";
import { useSettings } from "./settings";
import { sharedState } from "./shared-state";

const none: SentMessage[] = [];
const sent = sharedState<Partial<Record<string, SentMessage[]>>>({});

/** The messages that this tab sent to a conversation. */
export function useSentMessages(conversation: string): SentMessage[] {
  return sent.use((all) => all[conversation] ?? none);
}

/** Returns the function that sends a draft, and whether it is being sent. */
export function useSend(draft: Draft, conversation: string): { send: () => void; sending: boolean } {
  const [sending, setSending] = useState(false);
  const keys = useRequestKeys();
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
    setSending(true);
    try {
      const started = await api.start(run, keys.keyFor(run));
      keys.settle();
      const target = started.conversation_id ?? conversation;
      const all = sent.get();
      sent.set({ ...all, [target]: [...(all[target] ?? []), { runId: started.id, text: run.message, attachments: media, at: new Date().toISOString() }] });
      store.replay(started.id);
      draft.clear();
      void queryClient.invalidateQueries({ queryKey: ["conversations"] });
      if (conversation === "new") await navigate({ to: "/c/$id", params: { id: target } });
      else void queryClient.invalidateQueries({ queryKey: ["conversation", target] });
    } catch (e) {
      keys.settle(e);
      showError(e);
    } finally {
      setSending(false);
    }
  };
  return { send: () => void send(), sending };
}
