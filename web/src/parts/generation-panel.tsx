import { Button, Text, Textarea } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api } from "../api/client";
import type { MediaDetails, NewGeneration } from "../api/contract";
import { useRequestKeys } from "../api/idempotency";
import { recordPictureGeneration, usePictureGenerations } from "../api/picture-generations";
import { useMedia } from "../api/queries";
import { repeatRequest, variationRequest } from "../schema/generation-request";
import type { RequestKind } from "../schema/generation-request";
import { formatCost } from "../schema/format";
import { useBusy } from "./busy";
import { GenerationItem } from "./generation-item";

interface Props { id: string; kind: RequestKind; onOpen: (id: string) => void }

/** Requests more pictures like an existing one: estimated cost, progress and results. */
export function GenerationPanel({ id, kind, onOpen }: Props) {
  const m = useMedia(id).data;
  const generations = usePictureGenerations(id);
  const title = kind === "vary" ? "Vary" : "Generate again";
  return (
    <aside className="side-panel" aria-label={title}>
      <h2>{title}</h2>
      {m && <GenerationForm key={`${id} ${kind}`} media={m} kind={kind} />}
      {generations.length > 0 && <ul className="generation-list" aria-label="Generations from this picture">{generations.map((g) => <GenerationItem key={g} id={g} onOpen={onOpen} />)}</ul>}
    </aside>
  );
}

function GenerationForm({ media, kind }: { media: MediaDetails; kind: RequestKind }) {
  const base = kind === "vary" ? variationRequest(media) : repeatRequest(media);
  const [prompt, setPrompt] = useState(base?.prompt ?? "");
  const [debouncedPrompt] = useDebouncedValue(prompt, 300);
  const [busy, whileBusy] = useBusy();
  const keys = useRequestKeys();
  const request = (text: string): NewGeneration => ({ ...base, ...(text.trim() && { prompt: text.trim() }) });
  const plan = useQuery({ queryKey: ["plan", JSON.stringify(request(debouncedPrompt))], queryFn: () => api.plan(request(debouncedPrompt)), enabled: !!base, retry: false, staleTime: 60_000 });
  if (!base) return <p className="muted">It is unknown how it was made: it was uploaded, or drawn by an agent. Vary or edit it instead.</p>;
  const submit = async () => {
    recordPictureGeneration(media.id, (await keys.send(request(prompt), (key) => api.generate(request(prompt), key))).id);
  };
  const cost = plan.data && (formatCost({ estimated_usd: plan.data.estimated_usd, complete: true }) ?? "cost not known");
  return (
    <form className="generation-form" onSubmit={(e) => { e.preventDefault(); void whileBusy(submit); }}>
      <Textarea label="Prompt" autosize minRows={2} maxRows={8} value={prompt} onChange={(e) => setPrompt(e.currentTarget.value)} dir="auto" />
      {plan.data && <Text size="sm" c="var(--text-muted)">{plan.data.model} · {plan.data.makes === 1 ? "1 picture" : `${plan.data.makes} pictures`} · {cost}</Text>}
      {plan.data?.warnings.map((w) => <Text key={w} size="sm" c="var(--text-muted)">{w}</Text>)}
      {plan.error && <Text size="sm" className="error" role="alert">{plan.error.message} {plan.error instanceof ApiError && plan.error.hint}</Text>}
      <Button type="submit" loading={busy} disabled={!!plan.error || (!!base.prompt && !prompt.trim())}>{kind === "vary" ? "Vary" : "Generate"}</Button>
    </form>
  );
}
