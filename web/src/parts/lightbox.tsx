import { CloseButton } from "@mantine/core";
import { IconArrowsDiff, IconCopy, IconDownload, IconInfoCircle, IconPencil, IconRefresh, IconVersions } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import type { KeyboardEvent, ReactNode, SyntheticEvent } from "react";
import YetAnotherLightbox from "yet-another-react-lightbox";
import Zoom from "yet-another-react-lightbox/plugins/zoom";
import "yet-another-react-lightbox/styles.css";
import type { Media } from "../api/contract";
import { altText, mediaURL } from "../schema/format";
import { GenerationPanel } from "./generation-panel";
import { Provenance } from "./provenance";
import { showError, showSuccess } from "./notice";

type Panel = "" | "info" | "again" | "vary";

interface Props {
  pictures: Media[];
  id: string;
  onView: (id: string, other?: string) => void;
  onUse: (m: Media) => void;
  onEdit: (m: Media) => void;
}

/** One picture in the size of the window, with its neighbors and actions. */
export default function Lightbox({ pictures, id, onView, onUse, onEdit }: Props) {
  const [panel, setPanel] = useState<Panel>("");
  const toggle = (p: Panel) => setPanel((now) => (now === p ? "" : p));
  const index = Math.max(0, pictures.findIndex((m) => m.id === id));
  const m = pictures[index];
  const other = pictures[index - 1] ?? pictures[index + 1];
  useShortcuts({ i: () => toggle("info"), v: () => toggle("vary"), r: () => toggle("again"), e: () => m && onEdit(m), c: () => other && onView(id, other.id) });
  const closePanel = (from: Element) => { setPanel(""); from.closest<HTMLElement>(".yarl__container")?.focus(); };
  const onPanelKeyDown = (e: KeyboardEvent<HTMLElement>) => {
    if (e.target instanceof HTMLTextAreaElement || e.key === "Escape") e.stopPropagation();
    if (e.key === "Escape") closePanel(e.currentTarget);
  };
  if (!m) return null;
  const slides = pictures.map((p) => ({ src: mediaURL(p), alt: altText(p), ...(p.width && p.height && { width: p.width, height: p.height }) }));
  return (
    <YetAnotherLightbox
      portal={{ root: () => document.getElementById("root") /* beside the page, which cannot be used meanwhile; notifications can */ }}
      open close={() => onView("")} index={index} slides={slides} plugins={[Zoom]} className={panel ? "lightbox lightbox-with-panel" : "lightbox"}
      carousel={{ finite: true, padding: "20px" }} zoom={{ maxZoomPixelRatio: 4, scrollToZoom: true }} controller={{ closeOnPullDown: true, closeOnBackdropClick: true }} animation={{ fade: 150, swipe: 250 }}
      on={{ view: ({ index: i }) => { const next = pictures[i]; if (next && next.id !== id) onView(next.id); } }}
      toolbar={{ buttons: [<ToolbarButtons key="tools" media={m} info={panel === "info"} onInfo={() => toggle("info")} />, "zoom", "close"] }}
      render={{
        ...(pictures.length < 2 && { buttonPrev: () => null, buttonNext: () => null }),
        controls: () => (
          <>
            <div className="lightbox-footer">
              <p className="lightbox-caption" dir="auto">{altText(m)}</p>
              <div className="lightbox-actions">
                <ActionButton name="Edit" keys="e" icon={<IconPencil size={17} />} onClick={() => onEdit(m)} />
                <ActionButton name="Vary" keys="v" icon={<IconVersions size={17} />} pressed={panel === "vary"} onClick={() => toggle("vary")} />
                <ActionButton name="Again" keys="r" icon={<IconRefresh size={17} />} pressed={panel === "again"} onClick={() => toggle("again")} />
                {other && <ActionButton name="Compare" keys="c" icon={<IconArrowsDiff size={17} />} onClick={() => onView(id, other.id)} />}
              </div>
            </div>
            {panel && (
              <div className="lightbox-panel" onKeyDown={onPanelKeyDown} onPointerDown={stopPropagation} onWheel={stopPropagation}>
                <CloseButton className="lightbox-panel-close" aria-label="Close the panel" onClick={(e) => closePanel(e.currentTarget)} />
                {panel === "info" ? <Provenance id={m.id} onOpen={onView} onUse={onUse} /> : <GenerationPanel id={m.id} kind={panel} onOpen={onView} />}
              </div>
            )}
          </>
        ),
      }}
    />
  );
}

/** Keeps events in the panel from triggering gestures on the picture. */
const stopPropagation = (e: SyntheticEvent) => e.stopPropagation();

/** Single-key shortcuts, inactive in text fields. */
function useShortcuts(keys: Record<string, () => void>) {
  useEffect(() => {
    const key = (e: globalThis.KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("input, textarea, [contenteditable]")) return;
      const action = keys[e.key];
      if (!action) return;
      e.preventDefault(); // otherwise the letter would be typed into the panel that opens
      action();
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  });
}

function ActionButton({ name, keys, icon, pressed, onClick }: { name: string; keys: string; icon: ReactNode; pressed?: boolean; onClick: () => void }) {
  return <button type="button" title={`${name} (${keys})`} {...(pressed !== undefined && { "aria-pressed": pressed })} onClick={onClick}>{icon}{name}</button>;
}

function ToolbarButtons({ media, info, onInfo }: { media: Media; info: boolean; onInfo: () => void }) {
  const copy = () => void copyPicture(media).then(() => showSuccess("Picture copied"), () => showError(new Error("This browser cannot copy pictures.")));
  return (
    <>
      <button type="button" className="yarl__button" aria-label="How it was made (i)" title="How it was made (i)" aria-pressed={info} onClick={onInfo}><IconInfoCircle size={24} /></button>
      <button type="button" className="yarl__button" aria-label="Copy the picture" title="Copy the picture" onClick={copy}><IconCopy size={24} /></button>
      <a className="yarl__button" href={mediaURL(media)} download={media.file_name || media.ref} aria-label="Download" title="Download"><IconDownload size={24} /></a>
    </>
  );
}

/** Copies a picture to the clipboard as PNG, the format that clipboards accept. */
async function copyPicture(m: Media): Promise<void> {
  const png = async () => {
    const blob = await (await fetch(mediaURL(m))).blob();
    if (blob.type === "image/png") return blob;
    const image = new Image();
    image.src = URL.createObjectURL(blob);
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = m.width || image.naturalWidth;
    canvas.height = m.height || image.naturalHeight;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    return new Promise<Blob>((resolve, reject) => canvas.toBlob((b) => (b ? resolve(b) : reject(new Error("not drawn"))), "image/png"));
  };
  await navigator.clipboard.write([new ClipboardItem({ "image/png": png() })]);
}
