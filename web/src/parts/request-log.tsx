import { Button } from "@mantine/core";
import { useState } from "react";
import type { ActionCall, ImageContext, ModelCall } from "../api/contract";
import { useActionCalls, useImageContext, useModelCalls } from "../api/queries";
import { formatBytes, formatCost, formatDuration } from "../schema/format";
import { Fact } from "./fact";

/** What was sent in a run and what was returned: prompts, parameters, results and the pictures shown to
 * the model. Media are named by ref. The data is loaded when the part is opened. */
export function RequestLog({ run, name = "Prompts, parameters and results" }: { run: string; name?: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="request-log" onToggle={(e) => { if (e.target === e.currentTarget) setOpen(e.currentTarget.open); }}>
      <summary>{name}</summary>
      {open && <div className="request-log-body"><Images run={run} /><ModelCalls run={run} /><ActionCalls run={run} /></div>}
    </details>
  );
}

function Images({ run }: { run: string }) {
  const s = useImageContext(run).data;
  if (!s) return null;
  return (
    <dl className="facts">
      <Fact name="Agent">{s.agent}</Fact>
      <dt>Pictures that the model does not accept</dt><dd>{s.lenient_images ? "Omitted, with a note (lenient)" : "Refused (strict)"}</dd>
      <dt>Pictures from actions</dt><dd>{visionPolicy(s)}</dd>
      <dt>Attached pictures</dt><dd>{imageRefs(s.given)}</dd>
      {s.shown.length > 0 && <><dt>Shown pictures</dt><dd>{imageRefs(s.shown)}</dd></>}
      {s.settings.map((x) => <Fact key={x.setting} name={x.setting.replaceAll("_", " ")}>{x.applied || "none"}{x.outcome !== "applied" && ` (${x.outcome}, requested ${x.asked})`}{x.reason && `: ${x.reason}`}</Fact>)}
    </dl>
  );
}

function visionPolicy({ vision: v }: ImageContext): string {
  if (!v) return "Not shown to the model";
  return `Shown for ${v.turns_to_live} ${v.turns_to_live === 1 ? "turn" : "turns"}: at most ${v.max_images} with ${formatBytes(v.max_total_bytes)}, of ${v.allowed_sources.join(", ") || "no action"}`;
}

function imageRefs(all: ImageContext["given"]) {
  if (all.length === 0) return "None";
  return all.map((p) => <code key={p.ref}>{[p.ref, p.mime_type, p.file_name, p.detail && `detail ${p.detail}`].filter(Boolean).join(" ")}</code>);
}

function ModelCalls({ run }: { run: string }) {
  const q = useModelCalls(run);
  const all = q.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <section aria-label="Model calls">
      {all.map((c) => <ModelCallItem key={c.id} c={c} />)}
      {q.hasNextPage && <Button size="compact-xs" variant="default" onClick={() => void q.fetchNextPage()}>More model calls</Button>}
    </section>
  );
}

function ModelCallItem({ c }: { c: ModelCall }) {
  const facts = [c.model, `${c.input_tokens} → ${c.output_tokens} tokens`, formatCost({ estimated_usd: c.cost_usd, complete: true }) ?? "cost not known", elapsed(c)];
  return (
    <details className="request-log-item">
      <summary><b>Turn {c.turn}: prompt as sent</b> <span>{facts.filter(Boolean).join(" · ")}</span></summary>
      <JsonBlock name="Prompt" value={c.messages} />
      <JsonBlock name="Answer" value={c.answer} />
      {c.error && <p className="error">{c.error.message}</p>}
    </details>
  );
}

function ActionCalls({ run }: { run: string }) {
  const q = useActionCalls(run);
  const all = q.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <section aria-label="Actions">
      {all.map((a) => <ActionCallItem key={a.id} a={a} />)}
      {q.hasNextPage && <Button size="compact-xs" variant="default" onClick={() => void q.fetchNextPage()}>More actions</Button>}
    </section>
  );
}

function ActionCallItem({ a }: { a: ActionCall }) {
  if (a.child_run_id) return <RequestLog run={a.child_run_id} name={`Turn ${a.turn}: ${a.name}, a sub-agent`} />;
  return (
    <details className="request-log-item">
      <summary><b>Turn {a.turn}: {a.name}</b> <span>{[a.status, a.code, elapsed(a)].filter(Boolean).join(" · ")}</span></summary>
      {a.message && <p>{a.message}</p>}
      <JsonBlock name="Parameters" value={a.params} />
      <JsonBlock name="Result" value={a.outputs} />
    </details>
  );
}

function elapsed(x: { started_at: string; finished_at?: string }): string {
  return x.finished_at ? formatDuration(Date.parse(x.finished_at) - Date.parse(x.started_at)) : "";
}

/** Replaces the escaped line breaks of JSON. An escaped backslash before an n stays. */
export const withLineBreaks = (json: string) => json.replace(/\\(.)/g, (escape, c: string) => (c === "n" ? "\n" : escape));

/** A raw value: text with its line breaks, everything else as JSON. */
function JsonBlock({ name, value }: { name: string; value: unknown }) {
  if (value === undefined || value === null || value === "") return null;
  return <><h4>{name}</h4><pre tabIndex={0} aria-label={name} role="region">{typeof value === "string" ? value : withLineBreaks(JSON.stringify(value, null, 2))}</pre></>;
}
