// The queries of pages, cached by TanStack Query and refreshed by the stream.
import { QueryClient, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useSyncExternalStore } from "react";
import { ended } from "../schema/again";
import type { RunEvent } from "../schema/event";
import { over } from "../schema/run";
import type { RunState } from "../schema/run";
import { Refusal, api } from "./client";
import { Live } from "./live";

export const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 15_000, retry: (n, e) => n < 2 && !(e instanceof Refusal && e.status >= 400 && e.status < 500) },
  },
});

const LiveContext = createContext<Live | undefined>(undefined);
export const LiveProvider = LiveContext.Provider;

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (!live) throw new Error("LiveProvider is missing");
  useSyncExternalStore(live.subscribe, live.snapshot);
  return live;
}

/** The state of a run. If wanted is set, the run's earlier events are replayed. */
export function useRun(id: string, wanted: boolean): RunState | undefined {
  const live = useLive();
  useEffect(() => { if (wanted) live.replay(id); }, [live, id, wanted]);
  return live.run(id);
}

export const useHealth = () => useQuery({ queryKey: ["health"], queryFn: api.health, staleTime: 60_000 });
export const useAgents = () => useQuery({ queryKey: ["agents"], queryFn: api.agents, staleTime: 300_000 });
export const useChatModels = () => useQuery({ queryKey: ["chat-models"], queryFn: api.chatModels, staleTime: 300_000 });
export const useImageModels = () => useQuery({ queryKey: ["models"], queryFn: api.imageModels, staleTime: 300_000 });

export const useConversations = (q: string) => useInfiniteQuery({
  queryKey: ["conversations", q], initialPageParam: "",
  queryFn: ({ pageParam }) => api.conversations(q, pageParam), getNextPageParam: (page) => page.next || undefined,
});

export const useConversation = (id: string) => useQuery({ queryKey: ["conversation", id], queryFn: () => api.conversation(id) });
export const useRunRecord = (id: string, wanted: boolean) => useQuery({ queryKey: ["run", id], queryFn: () => api.run(id), enabled: wanted, staleTime: 60_000 });
export const mediaQuery = (id: string) => ({ queryKey: ["media", id], queryFn: () => api.media(id), staleTime: 60_000 });
export const useMedia = (id: string) => useQuery(mediaQuery(id));

export const useSight = (run: string) => useQuery({ queryKey: ["trace", run, "sight"], queryFn: () => api.sight(run) });
export const useModelCalls = (run: string) => useInfiniteQuery({
  queryKey: ["trace", run, "calls"], initialPageParam: "", queryFn: ({ pageParam }) => api.modelCalls(run, pageParam), getNextPageParam: (page) => page.next || undefined,
});
export const useActs = (run: string) => useInfiniteQuery({
  queryKey: ["trace", run, "acts"], initialPageParam: "", queryFn: ({ pageParam }) => api.acts(run, pageParam), getNextPageParam: (page) => page.next || undefined,
});

/** A generation, polled until it has ended. */
export const useGeneration = (id: string) => useQuery({
  queryKey: ["generation", id], queryFn: () => api.generation(id), refetchInterval: (q) => (q.state.data && !ended(q.state.data.status) ? 700 : false),
});

/** All media of the server, newest first, page by page. */
export const useMediaList = (q: string, kind: string) => useInfiniteQuery({
  queryKey: ["media-list", q, kind], initialPageParam: "", queryFn: ({ pageParam }) => api.mediaList(q, kind, pageParam), getNextPageParam: (page) => page.next || undefined,
});

/** Refreshes lists and records when runs start, pause, resume or end, in this tab or another. */
export function renewBy(live: Live): () => void {
  return live.onEvent((e, root) => {
    renewWorkflow(e, root);
    if (e.data.run_id !== root || !e.name.startsWith("run-")) return;
    const conversation = e.data.conversation_id ?? live.run(root)?.conversationId;
    void queries.invalidateQueries({ queryKey: ["conversations"] });
    void queries.invalidateQueries({ queryKey: ["run", root] });
    void queries.invalidateQueries({ queryKey: ["trace", root] });
    if (conversation) void queries.invalidateQueries({ queryKey: ["conversation", conversation] });
    if (over(live.run(root)?.status)) void queries.invalidateQueries({ queryKey: ["media"] });
    if (over(live.run(root)?.status)) void queries.invalidateQueries({ queryKey: ["media-list"] });
  });
}

/** Refreshes a workflow run, its interactions and its sub-actions. */
function renewWorkflow({ name, data }: RunEvent, root: string) {
  if (name.startsWith("run-") || name.startsWith("step-") || name === "interaction-opened" || name === "interaction-answered") {
    void queries.invalidateQueries({ queryKey: ["workflow-run", root] });
    void queries.invalidateQueries({ queryKey: ["workflow-runs"] });
  }
  if (data.metadata_id || name === "interaction-patched" || name === "interaction-answered") {
    if (name === "operation-progress" || name === "operation-partial") return;
    void queries.invalidateQueries({ queryKey: ["sub-actions", root] });
    if (data.interaction_id) void queries.invalidateQueries({ queryKey: ["interaction", data.interaction_id], refetchType: name === "interaction-answered" ? "active" : "none" });
  }
}
