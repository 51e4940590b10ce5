import { Button } from "@mantine/core";
import { api } from "../api/client";
import type { Generation, Media } from "../api/contract";
import { useRequestKeys } from "../api/idempotency";
import { queryClient, useGeneration, useRunStore } from "../api/queries";
import { isGenerationFinished } from "../schema/generation-request";
import { altText, formatCost, formatDuration, mediaURL } from "../schema/format";
import { useBusy } from "./busy";
import { showError } from "./notice";
import { useNow } from "./now";

/** A generation, from its start to its pictures. */
export function GenerationItem({ id, onOpen }: { id: string; onOpen: (id: string) => void }) {
  const { data: g, error } = useGeneration(id);
  const { generationProgress } = useRunStore();
  if (!g) return <li className="generation-item muted">{error?.message ?? "…"}</li>;
  if (!isGenerationFinished(g.status)) return <li className="generation-item"><GenerationProgress g={g} {...generationProgress(id)} /></li>;
  const pictures = g.slots.flatMap((s) => s.media ?? []);
  const failure = g.error ?? g.slots.find((s) => s.error)?.error;
  return (
    <li className="generation-item">
      <div className="thumbnails">
        {pictures.map((m) => <button key={m.id} type="button" aria-label={`Open ${altText(m)}`} onClick={() => onOpen(m.id)}><img src={mediaURL(m, 320)} alt={altText(m)} title={altText(m)} width={140} height={140} /></button>)}
      </div>
      {failure && <p className="error">{failure.message}</p>}
      {!failure && pictures.length === 0 && <p className="muted">Stopped.</p>}
      <p className="muted">{[g.model, formatCost(g.cost)].filter(Boolean).join(" · ")}</p>
      {pictures.length === 0 && <Retry g={g} />}
    </li>
  );
}

function GenerationProgress({ g, progress, partial }: { g: Generation; progress?: number; partial?: Media }) {
  const now = useNow(true);
  const cancel = () => void api.cancelGeneration(g.id).then(() => queryClient.invalidateQueries({ queryKey: ["generation", g.id] }), showError);
  return (
    <>
      {partial && <img className="partial" src={mediaURL(partial)} alt="Preview" title="Preview" />}
      <p role="status"><span className="spinner" aria-hidden /> {g.status === "queued" ? "Waiting" : "Working"}{progress !== undefined && `, ${Math.round(progress * 100)} %`}</p>
      <p className="muted">{formatDuration(Math.max(0, now - Date.parse(g.created_at)))} <Button size="compact-xs" variant="default" onClick={cancel}>Stop</Button></p>
    </>
  );
}

function Retry({ g }: { g: Generation }) {
  const [busy, whileBusy] = useBusy();
  const keys = useRequestKeys();
  const retry = () => whileBusy(async () => {
    await keys.send(g.id, (key) => api.retryGeneration(g.id, key));
    await queryClient.invalidateQueries({ queryKey: ["generation", g.id] });
  });
  return <Button size="compact-xs" variant="default" loading={busy} onClick={() => void retry()}>Try again</Button>;
}
