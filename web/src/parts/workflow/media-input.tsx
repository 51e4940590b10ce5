import { ActionIcon, Button, FileButton, Group, Modal } from "@mantine/core";
import { IconPhotoSearch, IconUpload, IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { upload } from "../../api/client";
import type { Media } from "../../api/contract";
import { useMedia, useMediaList } from "../../api/queries";
import { altText, mediaName, mediaURL } from "../../schema/format";
import { useBusy } from "../busy";

interface Props { name: string; ids: string[]; max: number; disabled: boolean; onChange: (ids: string[]) => void }

/** An input of existing or uploaded media; the value is their ids. */
export function MediaInput({ name: label, ids, max, disabled, onChange }: Props) {
  const [picking, setPicking] = useState(false);
  const [busy, whileBusy] = useBusy();
  const resetFile = useRef<() => void>(null); // so that the same file can be uploaded again
  const latest = useRef(ids); // also after an upload, during which others may have been picked
  useEffect(() => { latest.current = ids; }, [ids]);
  const add = (m: Media) => onChange(max === 1 ? [m.id] : [...latest.current.filter((id) => id !== m.id), m.id].slice(-max));
  const uploadFile = (file: File | null) => {
    if (file) void whileBusy(async () => add(await upload(file, () => undefined, new AbortController().signal)));
    resetFile.current?.();
  };
  return (
    <div className="media-input">
      {ids.map((id) => <SelectedMedia key={id} id={id} disabled={disabled} onRemove={() => onChange(ids.filter((other) => other !== id))} />)}
      <Group gap="xs">
        <Button size="compact-sm" variant="default" leftSection={<IconPhotoSearch size={15} />} disabled={disabled} onClick={() => setPicking(true)} aria-label={`Pick ${label}`}>Pick</Button>
        <FileButton onChange={uploadFile} resetRef={resetFile} inputProps={{ "aria-label": `Upload ${label}` }} disabled={disabled}>
          {(props) => <Button {...props} size="compact-sm" variant="default" leftSection={<IconUpload size={15} />} loading={busy} disabled={disabled}>Upload</Button>}
        </FileButton>
      </Group>
      <Modal opened={picking} onClose={() => setPicking(false)} title={`Pick ${label}`} size="lg"><Picker onPick={(m) => { add(m); setPicking(false); }} /></Modal>
    </div>
  );
}

function SelectedMedia({ id, disabled, onRemove }: { id: string; disabled: boolean; onRemove: () => void }) {
  const m = useMedia(id).data;
  return (
    <span className="attachment">
      {m?.modality === "image" ? <img src={mediaURL(m, 160)} alt={altText(m)} /> : <span className="attachment-icon" aria-hidden />}
      <span className="attachment-text attachment-name">{m ? mediaName(m) : id}</span>
      <ActionIcon aria-label={`Remove ${m ? mediaName(m) : id}`} size={26} disabled={disabled} onClick={onRemove}><IconX size={15} /></ActionIcon>
    </span>
  );
}

function Picker({ onPick }: { onPick: (m: Media) => void }) {
  const list = useMediaList("", "image");
  const all = list.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <>
      <div className="thumbnails picker">{all.map((m) => <button key={m.id} type="button" aria-label={`Pick ${altText(m)}`} onClick={() => onPick(m)}><img src={mediaURL(m, 320)} alt="" width={120} height={120} loading="lazy" /></button>)}</div>
      {list.isSuccess && all.length === 0 && <p className="muted">There are no pictures yet: upload one.</p>}
      {list.hasNextPage && <Button variant="subtle" color="gray" onClick={() => void list.fetchNextPage()}>Show older</Button>}
    </>
  );
}
