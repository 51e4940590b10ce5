import { IconArrowsMaximize, IconCheck } from "@tabler/icons-react";
import type { KeyboardEvent } from "react";
import { isObject } from "../../schema/pointer";
import { isGroupFull } from "../../schema/selection";
import type { Group, Node } from "../../schema/view";
import { useOpenMedia } from "../open-media";
import { gridHeight } from "../picture";
import { Windowed } from "../windowed";
import { useInteractionContext, useValue } from "./context";
import { mediaIdOf, thumbnail } from "./values";

interface Item { id: string; url: string; index: number }

const chunkSize = 24; // tiles per part of a grid

/** The results of a list in their order, to view and to choose from. */
export function Results({ node, name }: { node: Node; name: string }) {
  const value = useValue(node);
  const items = (Array.isArray(value) ? value : []).flatMap((e, index): Item[] => (isObject(e) && typeof e["url"] === "string" ? [{ id: String(e["content_id"] ?? ""), url: e["url"], index }] : []));
  const parts = Array.from({ length: Math.ceil(items.length / chunkSize) }, (_, i) => items.slice(i * chunkSize, (i + 1) * chunkSize));
  const tiles = (some: Item[]) => some.map((i) => <Tile key={i.id || i.url} item={i} name={`${name}, result ${i.index + 1}`} group={node.selection} />);
  return (
    <div role="group" aria-label={`Results of ${name}`} onKeyDown={moveFocus}>
      {parts.map((part) => (
        <Windowed key={part[0]?.index} eager={parts.length === 1} estimatedHeight={gridHeight(part.length, 400)}>{() => <div className="tiles">{tiles(part)}</div>}</Windowed>
      ))}
    </div>
  );
}

/** A result: a click, Enter or the space bar chooses it; a separate button opens it. */
function Tile({ item, name, group }: { item: Item; name: string; group: Group | undefined }) {
  const { selection, toggleSelection, readOnly } = useInteractionContext();
  const open = useOpenMedia();
  const id = mediaIdOf(item.url);
  const chosen = group !== undefined && (selection[group.group] ?? []).includes(item.id);
  const image = <img src={thumbnail(item.url)} alt={name} loading="lazy" decoding="async" width={320} height={320} />;
  const isDisabled = readOnly || !group || !item.id || (!chosen && isGroupFull(selection, group));
  return (
    <div className="tile" data-chosen={chosen || undefined}>
      {group
        ? <button type="button" className="tile-choose" aria-pressed={chosen} aria-disabled={isDisabled || undefined} aria-label={`Choose ${name}`} onClick={() => { if (!isDisabled) toggleSelection(group, item.id); }}>{image}<span className="tile-mark" aria-hidden>{chosen && <IconCheck size={16} />}</span></button>
        : <span className="tile-choose">{image}</span>}
      {id && <button type="button" className="tile-open" aria-label={`Open ${name}`} title="Open" onClick={() => open(id)}><IconArrowsMaximize size={15} /></button>}
    </div>
  );
}

/** Moves the focus from result to result with the left and right arrow keys. */
function moveFocus(e: KeyboardEvent<HTMLDivElement>) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  const all = [...e.currentTarget.querySelectorAll<HTMLButtonElement>("button.tile-choose")];
  const at = all.indexOf(document.activeElement as HTMLButtonElement);
  if (!step || at < 0) return;
  e.preventDefault();
  all[(at + step + all.length) % all.length]?.focus();
}
