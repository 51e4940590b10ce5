import { get, pathOf } from "../../schema/pointer";
import type { JSONValue } from "../../schema/pointer";
import type { Node } from "../../schema/view";
import { Card } from "./card";
import { CardStack, Cards, Grid, KeyValue, Passthrough, SectionList, TabList, Table } from "./containers";
import { useShared } from "./context";
import { Audio, Code, MarkdownText, Picture, PlainText, Unknown, Video } from "./values";

/** The props of a part: its node and heading level. */
export interface DrawProps { node: Node; level: number }

/** The components for each render_as. */
export const renderers: Record<string, (p: DrawProps) => React.ReactNode> = {
  "section-list": SectionList, "card-stack": CardStack, card: Cards, grid: Grid, "media-grid": Grid, table: Table, tabs: TabList, "key-value": KeyValue,
  text: PlainText, markdown: MarkdownText, image: Picture, audio: Audio, video: Video, code: Code,
};

/** Draws a node of the view. A node with a form or sub-actions is a card. A value with an unknown render_as is
 * shown as raw data. */
export function NodeView({ node, level }: DrawProps) {
  const { targets } = useShared();
  if (nothing(node, targets)) return null;
  if (node.form || node.sub_actions?.length) return <Card node={node} level={level} />;
  if (node.display === "passthrough") return <Passthrough node={node} level={level} />;
  const Draw = renderers[node.render_as] ?? Unknown;
  return <Draw node={node} level={level} />;
}

/** Reports whether a node shows nothing at its place: it is hidden, drawn below a card, or has only such children. */
export function nothing(n: Node, targets: Set<string>): boolean {
  if (n.display === "hidden" || targets.has(n.pointer)) return true;
  const children = n.children ?? [];
  return !n.form && !n.sub_actions?.length && n.type === "object" && children.every((c) => nothing(c, targets)) && (children.length > 0 || n.display === "passthrough");
}

/** The value of a node. */
export function useValue(n: Node): JSONValue | undefined {
  const { desk } = useShared();
  return get(desk.data(), pathOf(n.pointer));
}
