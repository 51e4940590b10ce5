import { Button, CopyButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Media, Setting } from "../api/contract";
import { useMedia } from "../api/queries";
import { altText, formatBytes, formatCost, mediaURL } from "../schema/format";
import { Fact } from "./fact";

interface Props { id: string; onOpen: (id: string) => void; onUse: (m: Media) => void }

/** How a picture was made: the prompt as sent, model, settings with their outcomes, cost, parents and
 * children. */
export function Provenance({ id, onOpen, onUse }: Props) {
  const q = useMedia(id);
  const m = q.data;
  if (!m) return <aside className="side-panel" aria-label="How it was made"><p>{q.error?.message ?? "…"}</p></aside>;
  const sent = m.origin.prompt_sent || m.origin.prompt;
  const model = m.origin?.model || m.model;
  return (
    <aside className="side-panel" aria-label="How it was made" tabIndex={-1}>
      <h2>How it was made</h2>
      {sent && (
        <section>
          <h3>Prompt as sent</h3>
          <p className="prompt-text" dir="auto">{sent}</p>
          <CopyButton value={sent}>{({ copied, copy }) => <Button size="compact-xs" variant="default" onClick={copy}>{copied ? "Copied" : "Copy prompt"}</Button>}</CopyButton>
        </section>
      )}
      {m.origin?.prompt_revised && <section><h3>As revised by the provider</h3><p className="prompt-text" dir="auto">{m.origin.prompt_revised}</p></section>}
      <dl className="facts">
        <Fact name="Model">{model}</Fact>
        <Fact name="Size">{m.width && m.height ? `${m.width} × ${m.height}` : undefined}</Fact>
        <Fact name="File">{[m.mime_type, formatBytes(m.size_bytes)].filter(Boolean).join(", ")}</Fact>
        <Fact name="Seed">{m.origin?.seed}</Fact>
        <Fact name="Cost">{formatCost(m.origin.cost)}</Fact>
        <Fact name="Ref"><code>{m.ref}</code></Fact>
        <Fact name="Made">{m.created_at && new Date(m.created_at).toLocaleString()}</Fact>
        <Fact name="About">{m.description}</Fact>
      </dl>
      {!!m.origin?.settings?.length && <section><h3>Settings</h3><ul className="settings">{m.origin.settings.map((s) => <SettingLine key={s.setting} s={s} />)}</ul></section>}
      <MediaStrip title="Made from" media={m.parents} onOpen={onOpen} />
      <MediaStrip title="Made into" media={m.children} onOpen={onOpen} />
      {m.sub_actions.map((s) => (
        <p key={s.content_id}>
          <Link to="/workflows/runs/$id" params={{ id: s.workflow_run_id }}>Made in a workflow{s.prompt_id && `, for ${s.prompt_id}`}</Link>{s.selected_at && `, chosen ${new Date(s.selected_at).toLocaleString()}`}
        </p>
      ))}
      <Button variant="default" fullWidth onClick={() => onUse(m)}>Use in a message</Button>
    </aside>
  );
}

const settingText = (v: unknown) => (v === undefined || v === null || v === "" ? "" : typeof v === "object" ? JSON.stringify(v) : String(v));

function SettingLine({ s }: { s: Setting }) {
  return (
    <li>
      <span>{s.setting.replaceAll("_", " ")}</span> <b>{settingText(s.applied) || (s.outcome === "dropped" ? "" : settingText(s.asked))}</b>
      {s.outcome && s.outcome !== "applied" && <em>{s.outcome}{settingText(s.asked) && `, requested ${settingText(s.asked)}`}</em>}
      {s.reason && <small>{s.reason}</small>}
    </li>
  );
}

function MediaStrip({ title, media, onOpen }: { title: string; media: Media[] | undefined; onOpen: (id: string) => void }) {
  if (!media?.length) return null;
  return (
    <section>
      <h3>{title}</h3>
      <div className="thumbnails">{media.map((p) => <button key={p.id} type="button" onClick={() => onOpen(p.id)}><img src={mediaURL(p, 160)} alt={altText(p)} title={altText(p)} width={64} height={64} /></button>)}</div>
    </section>
  );
}
