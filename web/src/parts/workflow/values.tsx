import type { Media } from "../../api/contract";
import { isObject } from "../../schema/pointer";
import type { JSONValue } from "../../schema/pointer";
import { mediaURL } from "../../schema/format";
import { MessageText } from "../markdown";
import { useOpenMedia } from "../open-media";
import { useInteractionContext, useValue } from "./context";
import type { NodeProps } from "./context";
import { Heading } from "./heading";

const valueText = (v: JSONValue | undefined) => (v === null || v === undefined ? "" : typeof v === "string" ? v : JSON.stringify(v, null, 2));

/** A text. The id of a result of this run is drawn as the result's picture. */
export function PlainText({ node, level }: NodeProps) {
  const value = useValue(node);
  const { jobs } = useInteractionContext();
  const content = typeof value === "string" && value.startsWith("gc_") ? jobs.flatMap((j) => j.contents ?? []).find((c) => c.id === value) : undefined;
  if (content) return <OpenablePicture url={`/media/${content.media_id}`} name={node.label || "Result"} />;
  return <div className="node-value"><Heading level={level}>{node.label}</Heading>{valueText(value) && <p className="node-text">{valueText(value)}</p>}</div>;
}

export function MarkdownText({ node, level }: NodeProps) {
  return <div className="node-value"><Heading level={level}>{node.label}</Heading><MessageText text={valueText(useValue(node))} media={{}} pending={false} /></div>;
}

export function Picture({ node, level }: NodeProps) {
  const value = useValue(node);
  const url = mediaUrlOf(value);
  if (!url) return <PlainText node={node} level={level} />;
  return <div className="node-value"><Heading level={level}>{node.label}</Heading><OpenablePicture url={url} name={node.label || node.key} /></div>;
}

export function Audio({ node, level }: NodeProps) {
  const url = mediaUrlOf(useValue(node));
  if (!url) return <PlainText node={node} level={level} />;
  return <div className="node-value"><Heading level={level}>{node.label}</Heading><audio className="player" controls preload="metadata" src={url} aria-label={node.label || "Audio"} /></div>;
}

export function Video({ node, level }: NodeProps) {
  const url = mediaUrlOf(useValue(node));
  if (!url) return <PlainText node={node} level={level} />;
  return <div className="node-value"><Heading level={level}>{node.label}</Heading><video className="player" controls preload="metadata" src={url} aria-label={node.label || "Video"} /></div>;
}

export function Code({ node, level }: NodeProps) {
  return <div className="node-value"><Heading level={level}>{node.label}</Heading><pre className="node-code" tabIndex={0} aria-label={node.label || node.key || "Value"}>{valueText(useValue(node))}</pre></div>;
}

/** A value with an unknown render_as: it is shown as raw data, with a note. */
export function Unknown({ node, level }: NodeProps) {
  return (
    <div className="node-unknown">
      <p className="muted">This page does not draw “{node.render_as}”: the value is shown as it is.</p>
      <Code node={node} level={level} />
    </div>
  );
}

/** A picture that opens in the lightbox. */
export function OpenablePicture({ url, name }: { url: string; name: string }) {
  const open = useOpenMedia();
  const id = mediaIdOf(url);
  const image = <img src={thumbnail(url)} alt={name} title={name} loading="lazy" width={320} height={320} />;
  return id ? <button type="button" className="node-picture" aria-label={`Open ${name}`} onClick={() => open(id)}>{image}</button> : <span className="node-picture">{image}</span>;
}

/** Returns the address of an item of this server, given by address or id. Nothing is loaded from other hosts. */
function mediaUrlOf(v: JSONValue | undefined): string | undefined {
  if (isObject(v)) return mediaUrlOf(v["url"] ?? (typeof v["media_id"] === "string" ? `/media/${v["media_id"]}` : undefined));
  if (typeof v !== "string") return undefined;
  return v.startsWith("/media/") ? v : /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(v) ? `/media/${v}` : undefined;
}

/** Returns the id in the address of an item of this server. */
export function mediaIdOf(url: string): string | undefined {
  return /^\/media\/([A-Za-z0-9_-]+)/.exec(url)?.[1];
}

export function thumbnail(url: string): string {
  const id = mediaIdOf(url);
  return id ? mediaURL({ id, ref: "", modality: "image", mime_type: "image/png", url } satisfies Media, 320) : url;
}
