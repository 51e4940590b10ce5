import { Button } from "@mantine/core";
import { useState } from "react";
import type { ReactNode } from "react";
import type { ActionCall, ImageContext, ModelCall } from "../api/contract";
import { useActionCalls, useImageContext, useModelCalls } from "../api/queries";
import { formatBytes, formatCost, formatDuration } from "../schema/format";

/** What was sent in a run and what was returned: prompts, parameters, results and the pictures shown to
 * the model. Media are named by ref. The data is loaded when the part is opened. */
export function Sent({ run, name = "Prompts, parameters and results" }: { run: string; name?: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="trace-sent" onToggle={(e) => { if (e.target === e.currentTarget) setOpen(e.currentTarget.open); }}>
      <summary>{name}</summary>
      {open && <div className="sent"><Seen run={run} /><Calls run={run} /><Acts run={run} /></div>}
    </details>
  );
}

function Seen({ run }: { run: string }) {
  const s = useImageContext(run).data;
  if (!s) return null;
  return (
    <dl className="facts">
      <dt>Agent</dt><dd>{s.agent}</dd>
      <dt>Pictures that the model does not accept</dt><dd>{s.lenient_images ? "Omitted, with a note (lenient)" : "Refused (strict)"}</dd>
      <dt>Pictures of actions</dt><dd>{policy(s)}</dd>
      <dt>Given pictures</dt><dd>{refs(s.given)}</dd>
      {s.shown.length > 0 && <><dt>Shown pictures</dt><dd>{refs(s.shown)}</dd></>}
      {s.settings.map((x) => <Row key={x.setting} name={x.setting.replaceAll("_", " ")}>{x.applied || "none"}{x.outcome !== "applied" && ` (${x.outcome}, requested ${x.asked})`}{x.reason && `: ${x.reason}`}</Row>)}
    </dl>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return <><dt>{name}</dt><dd>{children}</dd></>;
}

function policy({ vision: v }: ImageContext): string {
  if (!v) return "Not shown to the model";
  return `Shown for ${v.turns_to_live} ${v.turns_to_live === 1 ? "turn" : "turns"}: at most ${v.max_images} with ${formatBytes(v.max_total_bytes)}, of ${v.allowed_sources.join(", ") || "no action"}`;
}

function refs(all: ImageContext["given"]) {
  if (all.length === 0) return "None";
  return all.map((p) => <code key={p.ref}>{[p.ref, p.mime_type, p.file_name, p.detail && `detail ${p.detail}`].filter(Boolean).join(" ")}</code>);
}

function Calls({ run }: { run: string }) {
  const q = useModelCalls(run);
  const all = q.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <section aria-label="Model calls">
      {all.map((c) => <Call key={c.id} c={c} />)}
      {q.hasNextPage && <Button size="compact-xs" variant="default" onClick={() => void q.fetchNextPage()}>More model calls</Button>}
    </section>
  );
}

function Call({ c }: { c: ModelCall }) {
  const facts = [c.model, `${c.input_tokens} → ${c.output_tokens} tokens`, formatCost({ estimated_usd: c.cost_usd, complete: true }) ?? "cost not known", took(c)];
  return (
    <details className="sent-item">
      <summary><b>Turn {c.turn}: prompt as sent</b> <span>{facts.filter(Boolean).join(" · ")}</span></summary>
      <Json name="Prompt" value={c.messages} />
      <Json name="Answer" value={c.answer} />
      {c.error && <p className="bad">{c.error.message}</p>}
    </details>
  );
}

function Acts({ run }: { run: string }) {
  const q = useActionCalls(run);
  const all = q.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <section aria-label="Actions">
      {all.map((a) => <ActItem key={a.id} a={a} />)}
      {q.hasNextPage && <Button size="compact-xs" variant="default" onClick={() => void q.fetchNextPage()}>More actions</Button>}
    </section>
  );
}

function ActItem({ a }: { a: ActionCall }) {
  if (a.child_run_id) return <Sent run={a.child_run_id} name={`Turn ${a.turn}: ${a.name}, a sub-agent`} />;
  return (
    <details className="sent-item">
      <summary><b>Turn {a.turn}: {a.name}</b> <span>{[a.status, a.code, took(a)].filter(Boolean).join(" · ")}</span></summary>
      {a.message && <p>{a.message}</p>}
      <Json name="Parameters" value={a.params} />
      <Json name="Result" value={a.outputs} />
    </details>
  );
}

function took(x: { started_at: string; finished_at?: string }): string {
  return x.finished_at ? formatDuration(Date.parse(x.finished_at) - Date.parse(x.started_at)) : "";
}

/** A raw value: text with its line breaks, everything else as JSON. */
function Json({ name, value }: { name: string; value: unknown }) {
  if (value === undefined || value === null || value === "") return null;
  return <><h4>{name}</h4><pre tabIndex={0} aria-label={name} role="region">{typeof value === "string" ? value : JSON.stringify(value, null, 2).replaceAll("\\n", "\n")}</pre></>;
}
