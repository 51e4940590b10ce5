import { useSearch } from "@tanstack/react-router";
import { Suspense, lazy, useEffect } from "react";
import type { Media } from "../api/contract";
import { mediaQuery, queryClient, useMedia } from "../api/queries";
import { editPrompt } from "../schema/generation-request";
import type { RunState } from "../schema/run";
import type { Exchange } from "../schema/thread";
import { showError } from "./notice";
import { useOpenMedia } from "./open-media";

const Lightbox = lazy(() => import("./lightbox"));
const Compare = lazy(() => import("./compare"));

interface Props {
  exchanges?: Exchange[];
  runs?: RunState[];
  /** The pictures around the open one. */
  pictures?: Media[];
  /** Attaches an item to the draft. The text becomes that of an empty draft. */
  onUse: (m: Media, text?: string) => void;
}

/** Shows the item in the URL, among the given pictures and those of the conversation. */
export function MediaView(props: Props) {
  const { media, with: other } = useSearch({ strict: false });
  return media ? <OpenMedia {...props} id={media} other={other} /> : null;
}

function OpenMedia({ exchanges = [], runs = [], pictures = [], onUse, id, other }: Props & { id: string; other: string | undefined }) {
  const open = useOpenMedia();
  const { data: own, error } = useMedia(id);
  const second = useMedia(other ?? id).data;
  const all = new Map<string, Media>();
  const add = (m: Media | undefined) => { if (m?.modality === "image" && !all.has(m.id)) all.set(m.id, m); };
  pictures.forEach(add);
  for (const x of exchanges) {
    x.attachments.forEach(add);
    Object.values(runs.find((r) => r.id === x.runId)?.media ?? {}).forEach(add);
    x.answer?.attachments?.forEach(add);
  }
  if (own?.modality === "image") all.set(own.id, own); // with all details, at the place of the listed one
  own?.parents.forEach(add);
  own?.children.forEach(add);
  add(second);
  const [first, compared] = [all.get(id), other ? all.get(other) : undefined];
  const isMissing = error !== null && !first;
  useEffect(() => { if (isMissing) { showError(error); open(""); } }, [isMissing]);
  if (!first) return null;
  const use = (m: Media, text?: string) => { onUse(m, text); open(""); focusDraft(); };
  const edit = (m: Media) => void queryClient.fetchQuery(mediaQuery(m.id)).then((d) => use(m, editPrompt(d)), showError);
  return (
    <Suspense>
      {compared && <Compare pictures={[...all.values()]} first={first} second={compared} onOther={(o) => open(id, o)} onClose={() => open(id)} />}
      {!compared && <Lightbox pictures={[...all.values()]} id={id} onView={open} onUse={use} onEdit={edit} />}
    </Suspense>
  );
}

/** Moves the cursor to the end of the draft. */
function focusDraft() {
  requestAnimationFrame(() => {
    const box = document.getElementById("message") as HTMLTextAreaElement | null;
    box?.focus();
    box?.setSelectionRange(box.value.length, box.value.length);
  });
}
