import { ActionIcon, Tooltip } from "@mantine/core";
import { IconAlertTriangle, IconFileText, IconMusic, IconTable, IconX } from "@tabler/icons-react";
import { useState } from "react";
import type { Attachment } from "../api/draft";
import type { Media } from "../api/contract";
import { formatBytes, mediaURL } from "../schema/format";

function FileIcon({ name, size = 20 }: { name: string; size?: number }) {
  if (/\.(csv|tsv|xlsx?|jsonl?|ndjson)$/i.test(name)) return <IconTable size={size} />;
  return /\.(mp3|wav|ogg|flac|m4a)$/i.test(name) ? <IconMusic size={size} /> : <IconFileText size={size} />;
}

/** A file of a draft: thumbnail, progress, removal. */
export function AttachmentItem({ file, onRemove }: { file: Attachment; onRemove: () => void }) {
  const [isBroken, setBroken] = useState(false); // for example, the browser does not draw TIFF
  const src = file.media && file.media.modality !== "image" ? undefined : (file.preview ?? (file.media && mediaURL(file.media, 160)));
  const state = file.error ?? (file.media ? formatBytes(file.size) : `Uploading, ${Math.round(file.progress * 100)} %`);
  return (
    <li className="attachment" data-problem={file.error ? true : undefined}>
      {src && !isBroken && !file.error ? <img src={src} alt="" width={40} height={40} onError={() => setBroken(true)} /> : <span className="attachment-icon">{file.error ? <IconAlertTriangle size={20} /> : <FileIcon name={file.name} />}</span>}
      <span className="attachment-text">
        <span className="attachment-name" dir="auto" title={file.name}>{file.name}</span>
        <span className="attachment-status" title={state} {...(file.error && { role: "alert" })}>{state}</span>
      </span>
      {!file.media && !file.error && <progress className="attachment-progress" max={1} value={file.progress} aria-label={`Upload of ${file.name}`} />}
      <Tooltip label="Remove"><ActionIcon size={24} aria-label={`Remove ${file.name}`} onClick={onRemove}><IconX size={14} /></ActionIcon></Tooltip>
    </li>
  );
}

/** A sent file, which can be opened. */
export function FileLink({ media }: { media: Media }) {
  const name = media.file_name || media.label || media.ref;
  return (
    <a className="attachment" href={mediaURL(media)} target="_blank" rel="noreferrer">
      <span className="attachment-icon"><FileIcon name={name} /></span>
      <span className="attachment-text">
        <span className="attachment-name" dir="auto" title={name}>{name}</span>
        <span className="attachment-status">{formatBytes(media.size_bytes)}</span>
      </span>
    </a>
  );
}
