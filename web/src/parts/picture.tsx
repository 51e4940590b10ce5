import { useState } from "react";
import type { Media } from "../api/contract";
import { altText, mediaURL } from "../schema/format";
import { useOpenMedia } from "./open-media";
import { Windowed } from "./windowed";

/** A picture with a known size, and its blurred 16-pixel thumbnail while it loads. In a grid, drawings are shown whole. */
export function Picture({ media, inline = false }: { media: Media; inline?: boolean }) {
  const [isLoaded, setLoaded] = useState(false);
  const open = useOpenMedia();
  const w = media.width ?? 1024;
  const h = media.height ?? 1024;
  const text = altText(media);
  const isDrawing = media.mime_type === "image/svg+xml";
  return (
    <button
      type="button" className={inline ? "picture picture-inline" : "picture"} data-loaded={isLoaded || undefined} data-drawing={isDrawing || undefined} onClick={() => open(media.id)}
      style={{ ...(!isLoaded && !isDrawing && { backgroundImage: `url(${mediaURL(media, 16)})` }), ...({ aspectRatio: `${w} / ${h}`, "--ratio": w / h, "--natural-width": `${w}px` } as React.CSSProperties) }}
    >
      <img
        src={mediaURL(media, inline ? 320 : 1280)} srcSet={sources(media)} sizes={inline ? "160px" : "(max-width: 800px) 100vw, 760px"} alt={text} title={text} width={w} height={h}
        loading="lazy" decoding="async" onLoad={() => setLoaded(true)} onError={() => setLoaded(true) /* shows the alternative text */}
      />
    </button>
  );
}

/** The thumbnails smaller than the picture, and the picture itself. */
function sources(m: Media): string | undefined {
  const widths = ([320, 640, 1280] as const).filter((w) => w < (m.width ?? 0));
  if (m.mime_type === "image/svg+xml" || widths.length === 0) return undefined;
  return [...widths.map((w) => `${mediaURL(m, w)} ${w}w`), `${mediaURL(m)} ${m.width}w`].join(", ");
}

const chunkSize = 24; // pictures per part of a grid: a multiple of the usual numbers of columns
const gap = 10;

/** Several pictures side by side, or a single one in its own size. In a large grid, pictures far outside
 * the viewport are not drawn. */
export function Pictures({ media }: { media: Media[] }) {
  if (media.length === 1 && media[0]) return <div className="pictures-one"><Picture media={media[0]} /></div>;
  if (media.length <= 2 * chunkSize) return <Grid media={media} count={media.length} />;
  const parts = Array.from({ length: Math.ceil(media.length / chunkSize) }, (_, i) => media.slice(i * chunkSize, (i + 1) * chunkSize));
  return <>{parts.map((part) => <Windowed key={part[0]?.id} estimatedHeight={gridHeight(part.length, Math.min(760, window.innerWidth - 28))}>{() => <Grid media={part} count={media.length} />}</Windowed>)}</>;
}

function Grid({ media, count }: { media: Media[]; count: number }) {
  return <div className="pictures" data-count={count}>{media.map((m) => <Picture key={m.id} media={m} />)}</div>;
}

/** The height in px of a grid of square pictures, with the columns that style.css sets. */
export function gridHeight(count: number, width: number): number {
  const columns = Math.max(1, Math.floor((width + gap) / (Math.min(220, 0.46 * width) + gap)));
  const side = (width - gap * (columns - 1)) / columns;
  return Math.ceil(Math.ceil(count / columns) * (side + gap));
}
