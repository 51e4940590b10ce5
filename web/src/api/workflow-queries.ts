// The queries of the workflow pages.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { isGenerationFinished } from "../schema/generation-request";
import { isRunFinished } from "../schema/run";
import { workflowApi } from "./workflows";

const pollInterval = 1000; // ms between two polls of work in progress, in addition to the stream

export const useWorkflows = () => useQuery({ queryKey: ["workflows"], queryFn: workflowApi.list, staleTime: 0 });
export const useWorkflow = (id: string) => useQuery({ queryKey: ["workflow", id], queryFn: () => workflowApi.definition(id), staleTime: 0 });
export const useWorkflowRuns = () => useInfiniteQuery({
  queryKey: ["workflow-runs"], initialPageParam: "", queryFn: ({ pageParam }) => workflowApi.runs(pageParam), getNextPageParam: (page) => page.next || undefined,
});

/** A run, polled until it pauses or ends. */
export const useWorkflowRun = (id: string) => useQuery({
  queryKey: ["workflow-run", id], queryFn: () => workflowApi.run(id), staleTime: 0, refetchInterval: (q) => (q.state.data && (isRunFinished(q.state.data.status) || q.state.data.status === "paused") ? false : pollInterval),
});

export const useInteraction = (id: string) => useQuery({ queryKey: ["interaction", id], queryFn: () => workflowApi.interaction(id), staleTime: 0, enabled: id !== "" });

/** The sub-actions of a run, oldest first, polled while any is in progress. */
export const useSubActions = (run: string) => useQuery({
  queryKey: ["sub-actions", run], queryFn: () => workflowApi.subActions(run), staleTime: 0, enabled: run !== "", refetchInterval: (q) => (q.state.data?.items.some((j) => !isGenerationFinished(j.status)) ? pollInterval : false),
});
