// The queries of the workflow pages.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ended } from "../schema/again";
import { over } from "../schema/run";
import { workflows } from "./workflows";

const often = 1000; // ms between two polls of work in progress, in addition to the stream

export const useWorkflows = () => useQuery({ queryKey: ["workflows"], queryFn: workflows.list, staleTime: 300_000 });
export const useWorkflow = (id: string) => useQuery({ queryKey: ["workflow", id], queryFn: () => workflows.definition(id), staleTime: 300_000 });
export const useWorkflowRuns = () => useInfiniteQuery({
  queryKey: ["workflow-runs"], initialPageParam: "", queryFn: ({ pageParam }) => workflows.runs(pageParam), getNextPageParam: (page) => page.next || undefined,
});

/** A run, polled until it pauses or ends. */
export const useWorkflowRun = (id: string) => useQuery({
  queryKey: ["workflow-run", id], queryFn: () => workflows.run(id), staleTime: 0, refetchInterval: (q) => (q.state.data && (over(q.state.data.status) || q.state.data.status === "paused") ? false : often),
});

export const useInteraction = (id: string) => useQuery({ queryKey: ["interaction", id], queryFn: () => workflows.interaction(id), staleTime: 0, enabled: id !== "" });

/** The sub-actions of a run, oldest first, polled while any is in progress. */
export const useSubActions = (run: string) => useQuery({
  queryKey: ["sub-actions", run], queryFn: () => workflows.subActions(run), staleTime: 0, enabled: run !== "", refetchInterval: (q) => (q.state.data?.items.some((j) => !ended(j.status)) ? often : false),
});
