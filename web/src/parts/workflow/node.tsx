import { get, pathOf } from "../../schema/pointer";
import type { JSONValue } from "../../schema/pointer";
import type { Node } from "../../schema/view";
import { Card } from "./card";
import { CardStack, Cards, Grid, KeyValue, Passthrough, SectionList, TabList, Table } from "./containers";
import { useInteractionContext } from "./context";
import { Audio, Code, MarkdownText, Picture, PlainText, Unknown, Video } from "./values";

/** The props of a component that draws a node: the node and the heading level. */
export interface NodeProps { node: Node; level: number }

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
export function isInvisible(n: Node, resultPointers: Set<string>): boolean {
  if (n.display === "hidden" || resultPointers.has(n.pointer)) return true;
  const children = n.children ?? [];
  return !n.form && !n.sub_actions?.length && n.type === "object" && children.every((c) => isInvisible(c, resultPointers)) && (children.length > 0 || n.display === "passthrough");
}

/** The value of a node. */
export function useValue(n: Node): JSONValue | undefined {
  const { editor } = useInteractionContext();
  return get(editor.data(), pathOf(n.pointer));
}
