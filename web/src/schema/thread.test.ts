import { expect, test } from "vitest";
import type { Message } from "../api/contract";
import { newRun } from "./run";
import { buildExchanges } from "./thread";

const message = (role: Message["role"], run: string, text: string): Message => ({ id: `${role}-${run}`, role, text, run_id: run, created_at: "2026-11-22T10:00:00Z", attachments: [], report: false, ...(role === "assistant" && { status: "succeeded" as const }) });

test("pairs messages with their answers, also when runs went on at once", () => {
  const all = buildExchanges([message("user", "a", "A?"), message("user", "b", "B?"), message("assistant", "b", "B."), message("assistant", "a", "A.")], [], []);
  expect(all.map((x) => [x.text, x.answer?.text, x.status])).toEqual([["A?", "A.", "succeeded"], ["B?", "B.", "succeeded"]]);
});

test("a message without an answer is being answered", () => {
  expect(buildExchanges([message("user", "a", "A?")], [], [])[0]?.status).toBe("running");
});

test("what was sent shows before the list has it, once", () => {
  const sent = [{ runId: "a", text: "A?", attachments: [], at: "" }];
  expect(buildExchanges([], [], sent)).toHaveLength(1);
  expect(buildExchanges([message("user", "a", "A?")], [], sent)).toHaveLength(1);
});

test("a run of another tab shows by what it was asked, and is newer than the list", () => {
  const live = [{ ...newRun("z"), task: "From elsewhere", status: "paused" as const, agentName: "Sage" }];
  expect(buildExchanges([], live, [])[0]).toMatchObject({ text: "From elsewhere", status: "paused", agent: "Sage" });
  const ended = [{ ...newRun("a"), status: "failed" as const }];
  expect(buildExchanges([message("user", "a", "A?")], ended, [])[0]?.status).toBe("failed");
});
