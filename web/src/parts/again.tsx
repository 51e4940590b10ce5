import { Button, Text, Textarea } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError, api, idempotencyKey } from "../api/client";
import type { MediaDetails, NewGeneration } from "../api/contract";
import { recordPictureGeneration, usePictureGenerations } from "../api/picture-generations";
import { useMedia } from "../api/queries";
import { repeatRequest, variationRequest } from "../schema/generation-request";
import type { RequestKind } from "../schema/generation-request";
import { formatCost } from "../schema/format";
import { Making } from "./making";
import { showProblem } from "./notice";

interface Props { id: string; kind: RequestKind; onOpen: (id: string) => void }

/** Requests more pictures like an existing one: estimated cost, progress and results. */
export function Again({ id, kind, onOpen }: Props) {
  const m = useMedia(id).data;
  const made = usePictureGenerations(id);
  const title = kind === "vary" ? "Vary" : "Generate again";
  return (
    <aside className="made-of" aria-label={title}>
      <h2>{title}</h2>
      {m && <Order key={`${id} ${kind}`} media={m} kind={kind} />}
      {made.length > 0 && <ul className="makings" aria-label="Generations from this picture">{made.map((g) => <Making key={g} id={g} onOpen={onOpen} />)}</ul>}
    </aside>
  );
}

function Order({ media, kind }: { media: MediaDetails; kind: RequestKind }) {
  const base = kind === "vary" ? variationRequest(media) : repeatRequest(media);
  const [prompt, setPrompt] = useState(base?.prompt ?? "");
  const [settled] = useDebouncedValue(prompt, 300);
  const [busy, setBusy] = useState(false);
  const key = useRef("");
  const request = (words: string): NewGeneration => ({ ...base, ...(words.trim() && { prompt: words.trim() }) });
  const plan = useQuery({ queryKey: ["plan", JSON.stringify(request(settled))], queryFn: () => api.plan(request(settled)), enabled: !!base, retry: false, staleTime: 60_000 });
  if (!base) return <p className="soft">It is unknown how it was made: it was uploaded, or drawn by an agent. Vary or edit it instead.</p>;
  const begin = async () => {
    setBusy(true);
    key.current ||= idempotencyKey(); // the same key until there is a response, so that nothing is paid for twice
    try {
      recordPictureGeneration(media.id, (await api.generate(request(prompt), key.current)).id);
      key.current = "";
    } catch (e) {
      if (!(e instanceof ApiError) || e.status !== 0) key.current = "";
      showProblem(e);
    }
    setBusy(false);
  };
  const cost = plan.data && (formatCost({ estimated_usd: plan.data.estimated_usd, complete: true }) ?? "cost not known");
  return (
    <form className="order" onSubmit={(e) => { e.preventDefault(); void begin(); }}>
      <Textarea label="Words" autosize minRows={2} maxRows={8} value={prompt} onChange={(e) => setPrompt(e.currentTarget.value)} dir="auto" />
      {plan.data && <Text size="sm" c="var(--soft)">{plan.data.model} · {plan.data.makes === 1 ? "1 picture" : `${plan.data.makes} pictures`} · {cost}</Text>}
      {plan.data?.warnings.map((w) => <Text key={w} size="sm" c="var(--soft)">{w}</Text>)}
      {plan.error && <Text size="sm" className="bad" role="alert">{plan.error.message} {plan.error instanceof ApiError && plan.error.hint}</Text>}
      <Button type="submit" loading={busy} disabled={!!plan.error}>{kind === "vary" ? "Vary" : "Generate"}</Button>
    </form>
  );
}
