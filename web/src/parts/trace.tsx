import type { RunEvent } from "../schema/event";
import type { RunState, Step, Turn } from "../schema/run";
import { formatDuration } from "../schema/format";
import { RequestLog } from "./request-log";

interface Row { key: string; depth: number; name: string; details: string; from: number; to: number; failed: boolean; kind: string }

/** The timeline of a run, for developers: turns, actions and sub-agents. */
export function Trace({ run, events }: { run: RunState; events: RunEvent[] }) {
  const end = run.endedAt ?? Date.now();
  const start = run.startedAt ?? end;
  const all = rows(run, run.id, 0, end);
  const total = Math.max(1, end - start);
  return (
    <section className="trace" aria-label="Trace">
      <div className="table-scroll" role="region" aria-label="Steps of the run" tabIndex={0}>
        <table>
          <thead><tr><th>Step</th><th>Name</th><th>Time</th><th className="trace-axis">{formatDuration(total)}</th></tr></thead>
          <tbody>
            {all.map((r) => (
              <tr key={r.key} data-kind={r.kind}>
                <td style={{ paddingLeft: 8 + r.depth * 16 }}>{r.name}</td>
                <td className={r.failed ? "error" : undefined}>{r.details}</td>
                <td className="trace-ms">{r.to - r.from} ms</td>
                <td><span className="trace-bar" style={{ marginLeft: `${(100 * (r.from - start)) / total}%`, width: `${Math.max(0.8, (100 * (r.to - r.from)) / total)}%` }} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <RequestLog run={run.id} />
      <details className="trace-events">
        <summary>{events.length} {events.length === 1 ? "event" : "events"} of run {run.id}</summary>
        <pre tabIndex={0}>{events.map((e) => `${e.id} ${e.name} ${JSON.stringify(e.data)}`).join("\n")}</pre>
      </details>
    </section>
  );
}

function rows(run: RunState, runId: string, depth: number, end: number): Row[] {
  const items = [...run.turns.filter((t) => t.runId === runId).map((t) => ({ at: t.startedAt, t })), ...run.steps.filter((s) => s.runId === runId).map((s) => ({ at: s.startedAt, s }))];
  items.sort((a, b) => a.at - b.at);
  return items.flatMap((x) => ("t" in x ? [turnRow(x.t, depth, end)] : [stepRow(x.s, depth, end), ...(x.s.childRunId ? rows(run, x.s.childRunId, depth + 1, end) : [])]));
}

function turnRow(t: Turn, depth: number, end: number): Row {
  const read = t.inputTokens === undefined ? "" : `${t.inputTokens} → ${t.outputTokens ?? 0} tokens`;
  const details = [t.error, t.reasoning, t.actions.length > 0 && `calls ${t.actions.join(", ")}`, read].filter(Boolean).join(" · ");
  return { key: t.key, depth, kind: "turn", name: `Turn ${t.turn}${t.model ? `, ${t.model}` : ""}`, details, from: t.startedAt, to: t.endedAt ?? end, failed: !!t.error };
}

function stepRow(s: Step, depth: number, end: number): Row {
  const details = [s.message ?? s.note ?? s.task, s.refs.join(", ")].filter(Boolean).join(" · ");
  return { key: s.id, depth, kind: s.kind, name: s.name, details, from: s.startedAt, to: s.endedAt ?? end, failed: s.status === "failed" };
}
