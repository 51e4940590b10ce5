import { Tabs } from "@mantine/core";
import { descriptionId, titleId } from "@rjsf/utils";
import type { ObjectFieldTemplateProps } from "@rjsf/utils";
import { useState } from "react";
import type { CSSProperties, ReactElement } from "react";
import { matches } from "../../schema/condition";
import { arrange } from "../../schema/layout";
import type { Block, Field } from "../../schema/layout";

type Cells = Map<string, { content: ReactElement; hidden: boolean }>;
interface LayoutProps { cells: Cells; value: unknown }

/** The fields of an object in their layout; without one, one per row. */
export function LayoutTemplate({ properties, uiSchema, formData, title, description, fieldPathId }: ObjectFieldTemplateProps) {
  const cells: Cells = new Map(properties.map((p) => [p.name, { content: p.content, hidden: p.hidden }]));
  const blocks = (uiSchema?.["ui:options"]?.["blocks"] as Block[] | undefined) ?? arrange([...cells.keys()]);
  const outermost = fieldPathId.path.length === 0;
  const fields = <Blocks blocks={blocks} cells={cells} value={formData} />;
  if (outermost || !title) return fields;
  return (
    <fieldset className="form-group">
      <legend id={titleId(fieldPathId)}>{title}</legend>
      {description && <p id={descriptionId(fieldPathId)} className="muted">{description}</p>}
      {fields}
    </fieldset>
  );
}

function Blocks({ blocks, ...inner }: LayoutProps & { blocks: Block[] }) {
  return <>{blocks.map((b, i) => matches(b.visible_when, inner.value) && <BlockView key={i} block={b} {...inner} />)}</>;
}

function BlockView({ block, ...inner }: LayoutProps & { block: Block }) {
  const content = <Blocks blocks={block.blocks ?? []} {...inner} />;
  switch (block.kind) {
    case "row": return <Row fields={block.fields ?? []} {...inner} />;
    case "section": return <details className="form-section" open={!block.folded}><summary>{block.title ?? "More"}</summary>{content}</details>;
    case "group": return <fieldset className="form-group">{block.title && <legend>{block.title}</legend>}{content}</fieldset>;
    case "tabs": return <TabBlocks tabs={block.blocks ?? []} {...inner} />;
    default: return content;
  }
}

function TabBlocks({ tabs, ...inner }: LayoutProps & { tabs: Block[] }) {
  const [selected, setSelected] = useState<string | null>(null);
  const shown = tabs.map((t, i) => ({ ...t, id: String(i) })).filter((t) => matches(t.visible_when, inner.value));
  const open = (shown.find((t) => t.id === selected) ?? shown[0])?.id ?? null;
  return (
    <Tabs value={open} onChange={setSelected} keepMounted={false} className="form-tabs">
      <Tabs.List>{shown.map((t) => <Tabs.Tab key={t.id} value={t.id}>{t.title ?? `Part ${Number(t.id) + 1}`}</Tabs.Tab>)}</Tabs.List>
      {shown.map((t) => <Tabs.Panel key={t.id} value={t.id}><Blocks blocks={t.blocks ?? []} {...inner} /></Tabs.Panel>)}
    </Tabs>
  );
}

function Row({ fields, cells, value }: LayoutProps & { fields: Field[] }) {
  const shown = fields.filter((f) => cells.has(f.field) && !cells.get(f.field)?.hidden && matches(f.visible_when, value));
  if (shown.length === 0) return null;
  return <div className="form-row">{shown.map((f) => <div key={f.field} className="form-cell" style={{ "--span": f.span } as CSSProperties}>{cells.get(f.field)?.content}</div>)}</div>;
}
