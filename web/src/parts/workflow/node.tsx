import { Tabs } from "@mantine/core";
import type { Node } from "../../schema/view";
import { Windowed } from "../windowed";
import { Card } from "./card";
import { useInteractionContext } from "./context";
import type { NodeProps } from "./context";
import { Heading } from "./heading";
import { Results } from "./results";
import { Audio, Code, MarkdownText, Picture, PlainText, Unknown, Video } from "./values";

/** The components for each render_as. */
const renderers: Record<string, (p: NodeProps) => React.ReactNode> = {
  "section-list": SectionList, "card-stack": CardStack, card: Cards, grid: Grid, "media-grid": Grid, table: Table, tabs: TabList, "key-value": KeyValue,
  text: PlainText, markdown: MarkdownText, image: Picture, audio: Audio, video: Video, code: Code,
};

/** Draws a node of the view. A node with a form or sub-actions is a card. A value with an unknown render_as is
 * shown as raw data. */
export function NodeView({ node, level }: NodeProps) {
  const { resultPointers } = useInteractionContext();
  if (isInvisible(node, resultPointers)) return null;
  if (node.form || node.sub_actions?.length) return <Card node={node} level={level} />;
  if (node.display === "passthrough") return <Passthrough node={node} level={level} />;
  const Renderer = renderers[node.render_as] ?? Unknown;
  return <Renderer node={node} level={level} />;
}

/** Reports whether a node shows nothing at its place: it is hidden, drawn below a card, or has only such children. */
function isInvisible(n: Node, resultPointers: Set<string>): boolean {
  if (n.display === "hidden" || resultPointers.has(n.pointer)) return true;
  const children = n.children ?? [];
  return !n.form && !n.sub_actions?.length && n.type === "object" && children.every((c) => isInvisible(c, resultPointers)) && (children.length > 0 || n.display === "passthrough");
}

function useChildren(n: Node): Node[] {
  const { resultPointers } = useInteractionContext();
  return (n.children ?? []).filter((c) => !isInvisible(c, resultPointers));
}

function Passthrough({ node, level }: NodeProps) {
  return <>{useChildren(node).map((c) => <NodeView key={c.pointer} node={c} level={level} />)}</>;
}

function SectionList({ node, level }: NodeProps) {
  const children = useChildren(node);
  return (
    <section className="node-sections" aria-label={node.label || undefined}>
      <Heading level={level}>{node.label}</Heading>
      {children.map((c) => <NodeView key={c.pointer} node={c} level={level + 1} />)}
    </section>
  );
}

/** Cards side by side; those far outside the viewport are not drawn. */
function CardStack({ node, level }: NodeProps) {
  const children = useChildren(node);
  return (
    <section className="node-stack" aria-label={node.label || undefined}>
      <Heading level={level}>{node.label}</Heading>
      <div className="cards">{children.map((c, i) => <Windowed key={c.pointer} className="card-slot" estimatedHeight={420} eager={i < 4}>{() => <NodeView node={c} level={level + 1} />}</Windowed>)}</div>
    </section>
  );
}

function Cards({ node, level }: NodeProps) {
  const children = useChildren(node);
  return (
    <article className="wf-card" aria-label={node.label || undefined}>
      <Heading level={level}>{node.label}</Heading>
      {children.map((c) => <NodeView key={c.pointer} node={c} level={level + 1} />)}
    </article>
  );
}

/** A list: results to choose from, or parts side by side. */
function Grid({ node, level }: NodeProps) {
  const children = useChildren(node);
  if (node.selection || children.some((c) => c.children?.some((x) => x.render_as === "image"))) {
    return <section aria-label={node.label || "Results"}><Heading level={level}>{node.label}</Heading><Results node={node} name={node.label || node.key} /></section>;
  }
  return (
    <section aria-label={node.label || undefined}>
      <Heading level={level}>{node.label}</Heading>
      <div className="node-grid">{children.map((c) => <div key={c.pointer}><NodeView node={c} level={level + 1} /></div>)}</div>
    </section>
  );
}

function TabList({ node, level }: NodeProps) {
  const children = useChildren(node);
  return (
    <section aria-label={node.label || undefined}>
      <Heading level={level}>{node.label}</Heading>
      <Tabs defaultValue={children[0]?.pointer ?? null} keepMounted={false}>
        <Tabs.List>{children.map((c) => <Tabs.Tab key={c.pointer} value={c.pointer}>{c.label}</Tabs.Tab>)}</Tabs.List>
        {children.map((c) => <Tabs.Panel key={c.pointer} value={c.pointer} pt="md"><NodeView node={{ ...c, label: "" }} level={level + 1} /></Tabs.Panel>)}
      </Tabs>
    </section>
  );
}

/** A row for each item and a column for each key. */
function Table({ node, level }: NodeProps) {
  const rows = useChildren(node);
  const columns = new Map(rows.flatMap((r) => (r.children ?? []).filter((c) => c.display !== "hidden").map((c): [string, string] => [c.key, c.label])));
  return (
    <section aria-label={node.label || undefined}>
      <Heading level={level}>{node.label}</Heading>
      <div className="node-table" tabIndex={0} role="group" aria-label={node.label || "Table"}>
        <table>
          <thead><tr>{[...columns].map(([key, label]) => <th key={key} scope="col">{label}</th>)}</tr></thead>
          <tbody>{rows.map((r) => <tr key={r.pointer}>{[...columns.keys()].map((key) => <td key={key}><Cell node={r.children?.find((c) => c.key === key)} /></td>)}</tr>)}</tbody>
        </table>
      </div>
    </section>
  );
}

const Cell = ({ node }: { node: Node | undefined }) => node && <NodeView node={{ ...node, label: "" }} level={6} />;

/** Names and values; nested values are sections. */
function KeyValue({ node, level }: NodeProps) {
  const children = useChildren(node);
  const whole = (c: Node) => (c.children?.length ?? 0) > 0 || c.form !== undefined || c.type === "array" || c.type === "object";
  const facts = children.filter((c) => !whole(c));
  return (
    <section className="node-facts" aria-label={node.label || undefined}>
      {node.pointer !== "" && <Heading level={level}>{node.label}</Heading>}
      {facts.length > 0 && <dl className="facts">{facts.map((c) => <div key={c.pointer}><dt>{c.label}</dt><dd><NodeView node={{ ...c, label: "" }} level={level + 1} /></dd></div>)}</dl>}
      {children.filter(whole).map((c) => <NodeView key={c.pointer} node={c} level={node.pointer === "" ? level : level + 1} />)}
    </section>
  );
}
