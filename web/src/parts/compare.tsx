import { Modal, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import type { CSSProperties } from "react";
import type { Media } from "../api/contract";
import { altText, mediaURL } from "../schema/format";

interface Props { pictures: Media[]; first: Media; second: Media; onOther: (id: string) => void; onClose: () => void }

/** Two pictures, one above the other with a slider, or side by side. */
export default function Compare({ pictures, first, second, onOther, onClose }: Props) {
  const [mode, setMode] = useState("slider");
  return (
    <Modal opened onClose={onClose} fullScreen title="Compare" classNames={{ body: "compare", content: "compare-page", header: "compare-head" }} closeButtonProps={{ "aria-label": "Close the comparison" }}>
      <SegmentedControl aria-label="How to compare" value={mode} onChange={setMode} data={[{ value: "slider", label: "Slider" }, { value: "side", label: "Side by side" }]} />
      {mode === "slider" ? <Slider first={first} second={second} /> : <div className="compare-side"><Side m={first} /><Side m={second} /></div>}
      {pictures.length > 2 && (
        <div className="thumbnails compare-strip" role="group" aria-label="Compare with">
          {pictures.filter((m) => m.id !== first.id).map((m) => (
            <button key={m.id} type="button" aria-pressed={m.id === second.id} aria-label={`Compare with ${altText(m)}`} onClick={() => onOther(m.id)}>
              <img src={mediaURL(m, 160)} alt="" width={56} height={56} loading="lazy" />
            </button>
          ))}
        </div>
      )}
    </Modal>
  );
}

function Side({ m }: { m: Media }) {
  return <figure><img src={mediaURL(m)} alt={altText(m)} title={altText(m)} /><figcaption>{altText(m)}</figcaption></figure>;
}

function Slider({ first, second }: { first: Media; second: Media }) {
  const [position, setPosition] = useState(50);
  const ratio = (first.width ?? 1) / (first.height ?? 1);
  return (
    <div className="compare-slider" style={{ "--position": `${position}%`, "--ratio": ratio } as CSSProperties}>
      <img src={mediaURL(second)} alt={altText(second)} title={altText(second)} />
      <img className="compare-overlay" src={mediaURL(first)} alt={altText(first)} title={altText(first)} />
      <span className="compare-line" aria-hidden />
      <input type="range" min={0} max={100} value={position} aria-label={`Visible part of ${altText(first)}`} onChange={(e) => setPosition(Number(e.currentTarget.value))} />
    </div>
  );
}
