import type { Media } from "../api/contract";
import { mediaName, mediaURL } from "../schema/format";
import { FileLink } from "./attachment";
import { Pictures } from "./picture";

/** Any item: pictures are shown, audio and video play, documents open. */
export function MediaItems({ media }: { media: Media[] }) {
  const pictures = media.filter((m) => m.modality === "image");
  const others = media.filter((m) => m.modality !== "image");
  return (
    <>
      {pictures.length > 0 && <Pictures media={pictures} />}
      {others.map((m) => <OtherMedia key={m.id} media={m} />)}
    </>
  );
}

function OtherMedia({ media }: { media: Media }) {
  if (media.modality === "audio") {
    return (
      <figure className="player">
        <audio controls preload="metadata" src={mediaURL(media)} aria-label={mediaName(media)} />
        <figcaption>{mediaName(media)}</figcaption>
      </figure>
    );
  }
  if (media.modality === "video") return <video className="player" controls preload="metadata" src={mediaURL(media)} width={media.width} height={media.height} aria-label={mediaName(media)} />;
  return <FileLink media={media} />;
}
