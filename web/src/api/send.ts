// Sends a draft as a run of a conversation.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { showError } from "../parts/notice";
import type { SentMessage } from "../schema/thread";
import { mediaName } from "../schema/format";
import { ApiError, api } from "./client";
import type { Media, Model } from "./contract";
import type { Draft } from "./draft";
import { useRequestKeys } from "./idempotency";
import { queryClient, useAgents, useChatModels, useImageModels, useRunStore } from "./queries";
import { useSettings } from "./settings";
import { sharedState } from "./shared-state";

const none: SentMessage[] = [];
const sent = sharedState<Partial<Record<string, SentMessage[]>>>({});

/** The messages that this tab sent to a conversation. */
export function useSentMessages(conversation: string): SentMessage[] {
  return sent.use((all) => all[conversation] ?? none);
}

/** The chosen model; none if the list lacks it, because the menu then shows that the model is chosen automatically. */
const knownModel = (all: Model[] | undefined, id: string) => (!all || all.some((m) => m.id === id) ? id : "");

/** The error with the names of files instead of their ids, which are not shown anywhere. */
function withFileNames(e: unknown, files: Media[]): unknown {
  return e instanceof ApiError ? new ApiError(e.status, e.code, files.reduce((text, m) => text.replace(`media ${m.id}`, mediaName(m)), e.message), e.hint, e.retryable) : e;
}

/** Returns the function that sends a draft, and whether it is being sent. */
export function useSend(draft: Draft, conversation: string): { send: () => void; sending: boolean } {
  const [sending, setSending] = useState(false);
  const keys = useRequestKeys();
  const settings = useSettings();
  const agents = useAgents().data?.items;
  const [models, imageModels] = [useChatModels(), useImageModels()].map((q) => q.data?.items);
  const navigate = useNavigate();
  const store = useRunStore();
  const send = async () => {
    const media = draft.attachments.flatMap((a) => a.media ?? []);
    const isKnown = !agents || agents.some((a) => (a.slug ?? a.name) === settings.agent);
    const [model, imageModel] = [knownModel(models, settings.model), knownModel(imageModels, settings.imageModel)];
    const run = {
      agent: (isKnown && settings.agent) || "sage", message: draft.text.trim(), conversation_id: conversation,
      images: media.filter((m) => m.modality === "image").map((m) => ({ media_id: m.id })),
      files: media.filter((m) => m.modality !== "image").map((m) => ({ media_id: m.id })),
      ...(model && { model }), ...(imageModel && { image_model: imageModel }),
    };
    setSending(true);
    try {
      const started = await keys.send(run, (key) => api.start(run, key));
      const target = started.conversation_id ?? conversation;
      const all = sent.get();
      sent.set({ ...all, [target]: [...(all[target] ?? []), { runId: started.id, text: run.message, attachments: media, at: new Date().toISOString() }] });
      store.replay(started.id);
      draft.clear(draft);
      void queryClient.invalidateQueries({ queryKey: ["conversations"] });
      if (conversation === "new") await navigate({ to: "/c/$id", params: { id: target } });
      else void queryClient.invalidateQueries({ queryKey: ["conversation", target] });
    } catch (e) {
      showError(withFileNames(e, media));
    } finally {
      setSending(false);
    }
  };
  return { send: () => void send(), sending };
}
