// The queries of pages, cached by TanStack Query and refreshed by the stream.
import { QueryClient, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useSyncExternalStore } from "react";
import { isGenerationFinished } from "../schema/generation-request";
import type { RunEvent } from "../schema/event";
import { isRunFinished } from "../schema/run";
import type { RunState } from "../schema/run";
import { ApiError, api } from "./client";
import type { Health } from "./contract";
import { RunStore } from "./run-store";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 15_000, retry: (n, e) => n < 2 && !(e instanceof ApiError && e.status >= 400 && e.status < 500) },
  },
});

/** Reads the state of the server. If another token has been signed in, in any tab, the page is loaded again: its data and
 * its stream are those of the former owner. */
async function health(): Promise<Health> {
  const before = queryClient.getQueryData<Health>(["health"]);
  const now = await api.health();
  if (before && before.token !== now.token) window.location.reload();
  return now;
}

const RunStoreContext = createContext<RunStore | undefined>(undefined);
export const RunStoreProvider = RunStoreContext.Provider;

export function useRunStore(): RunStore {
  const store = useContext(RunStoreContext);
  if (!store) throw new Error("RunStoreProvider is missing");
  useSyncExternalStore(store.subscribe, store.snapshot);
  return store;
}

/** The state of a run. If replay is set, the run's earlier events are replayed. */
export function useRun(id: string, replay: boolean): RunState | undefined {
  const store = useRunStore();
  useEffect(() => { if (replay) store.replay(id); }, [store, id, replay]);
  return store.run(id);
}

export const useHealth = () => useQuery({ queryKey: ["health"], queryFn: health, staleTime: 60_000, refetchOnWindowFocus: "always" });
export const useAgents = () => useQuery({ queryKey: ["agents"], queryFn: api.agents, staleTime: 300_000 });
export const useChatModels = () => useQuery({ queryKey: ["chat-models"], queryFn: api.chatModels, staleTime: 300_000 });
export const useImageModels = () => useQuery({ queryKey: ["models"], queryFn: api.imageModels, staleTime: 300_000 });

export const useConversations = (q: string) => useInfiniteQuery({
  queryKey: ["conversations", q], initialPageParam: "",
  queryFn: ({ pageParam }) => api.conversations(q, pageParam), getNextPageParam: (page) => page.next || undefined,
});

export const useConversation = (id: string) => useQuery({ queryKey: ["conversation", id], queryFn: () => api.conversation(id) });
export const useRunRecord = (id: string, enabled: boolean) => useQuery({ queryKey: ["run", id], queryFn: () => api.run(id), enabled, staleTime: 60_000 });
export const mediaQuery = (id: string) => ({ queryKey: ["media", id], queryFn: () => api.media(id), staleTime: 60_000 });
export const useMedia = (id: string) => useQuery(mediaQuery(id));

export const useImageContext = (run: string) => useQuery({ queryKey: ["trace", run, "sight"], queryFn: () => api.imageContext(run) });
export const useModelCalls = (run: string) => useInfiniteQuery({
  queryKey: ["trace", run, "calls"], initialPageParam: "", queryFn: ({ pageParam }) => api.modelCalls(run, pageParam), getNextPageParam: (page) => page.next || undefined,
});
export const useActionCalls = (run: string) => useInfiniteQuery({
  queryKey: ["trace", run, "acts"], initialPageParam: "", queryFn: ({ pageParam }) => api.actionCalls(run, pageParam), getNextPageParam: (page) => page.next || undefined,
});

/** A generation, polled until it has ended. */
export const useGeneration = (id: string) => useQuery({
  queryKey: ["generation", id], queryFn: () => api.generation(id), refetchInterval: (q) => (q.state.data && !isGenerationFinished(q.state.data.status) ? 700 : false),
});

/** All media of the server, newest first, page by page. */
export const useMediaList = (q: string, kind: string) => useInfiniteQuery({
  queryKey: ["media-list", q, kind], initialPageParam: "", queryFn: ({ pageParam }) => api.mediaList(q, kind, pageParam), getNextPageParam: (page) => page.next || undefined,
});

/** Refreshes lists and records when runs start, pause, resume or end, in this tab or another, and what was read before
 * the stream of events was open. A first request in progress is not repeated. */
export function invalidateOnEvents(store: RunStore): () => void {
  store.opened = () => void queryClient.invalidateQueries();
  store.refused = () => void queryClient.invalidateQueries({ queryKey: ["conversations"] }); // its answer says why
  return store.onEvent((e, root) => {
    invalidateWorkflow(e, root);
    if (!root && e.name === "operation-finished") invalidateMedia();
    if (e.data.run_id !== root || !e.name.startsWith("run-")) return;
    const conversation = e.data.conversation_id ?? store.run(root)?.conversationId;
    void queryClient.invalidateQueries({ queryKey: ["conversations"] });
    void queryClient.invalidateQueries({ queryKey: ["run", root] });
    void queryClient.invalidateQueries({ queryKey: ["trace", root] });
    if (conversation) void queryClient.invalidateQueries({ queryKey: ["conversation", conversation] });
    if (isRunFinished(store.run(root)?.status)) invalidateMedia();
  });
}

function invalidateMedia() {
  void queryClient.invalidateQueries({ queryKey: ["media"] });
  void queryClient.invalidateQueries({ queryKey: ["media-list"] });
}

/** Refreshes a workflow run, its interactions and its sub-actions. */
function invalidateWorkflow({ name, data }: RunEvent, root: string) {
  if (name.startsWith("run-") || name.startsWith("step-") || name === "interaction-opened" || name === "interaction-answered") {
    void queryClient.invalidateQueries({ queryKey: ["workflow-run", root] });
    void queryClient.invalidateQueries({ queryKey: ["workflow-runs"] });
  }
  if (data.metadata_id || name === "interaction-patched" || name === "interaction-answered") {
    if (name === "operation-progress" || name === "operation-partial") return;
    void queryClient.invalidateQueries({ queryKey: ["sub-actions", root] });
    if (data.interaction_id) void queryClient.invalidateQueries({ queryKey: ["interaction", data.interaction_id], refetchType: name === "interaction-answered" ? "active" : "none" });
  }
}
