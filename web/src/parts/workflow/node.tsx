import { get, pathOf } from "../../schema/pointer";
import type { JSONValue } from "../../schema/pointer";
import type { Node } from "../../schema/view";
import { Card } from "./card";
import { Cards, CardStack, Grid, KeyValue, Passthrough, SectionList, Table, TabList } from "./containers";
import { useShared } from "./context";
import { Audio, Code, MarkdownText, Picture, PlainText, Unknown, Video } from "./values";

/** The props of a part: its node and heading level. */
export interface DrawProps { node: Node; level: number }

/** The components for each render_as. */
export const renderers: Record<string, (p: DrawProps) => React.ReactNode> = {
  "section-list": SectionList, "card-stack": CardStack, card: Cards, grid: Grid, "media-grid": Grid, table: Table, tabs: TabList, "key-value": KeyValue,
  text: PlainText, markdown: MarkdownText, image: Picture, audio: Audio, video: Video, code: Code,
};

/** Draws a node of the view. What can be edited or generated from is a card; a name that nobody
 * draws is shown as it is. */
export function NodeView({ node, level }: DrawProps) {
  const { targets } = useShared();
  if (nothing(node, targets)) return null;
  if (node.form || node.sub_actions?.length) return <Card node={node} level={level} />;
  if (node.display === "passthrough") return <Passthrough node={node} level={level} />;
  const Draw = renderers[node.render_as] ?? Unknown;
  return <Draw node={node} level={level} />;
}

/** Says that a node has nothing to show where it stands: it is hidden, or beneath a card. */
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
