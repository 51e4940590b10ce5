import { Button, Group, Modal, Skeleton } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import { Suspense, lazy, useState } from "react";
import { cardParams, saveCardParams, saveProviderParams } from "../../api/params";
import { changedParams, currentParams, paramLayout, paramSchema } from "../../schema/params";
import { isObject } from "../../schema/pointer";
import type { JSONObject, JSONValue } from "../../schema/pointer";
import type { Node, SubAction } from "../../schema/view";
import { useShared } from "./context";
import { Jobs } from "./jobs";
import { Price } from "./price";
import { useClicks } from "./clicks";

const DataForm = lazy(() => import("./data-form"));

interface Props { node: Node; action: SubAction; value: JSONValue | undefined }

/** A sub-action of a card: its parameters, the prompt and its runs. */
export function SubActionPart({ node, action, value }: Props) {
  const { fixed, state, run } = useShared();
  const card = `${state.interaction.interaction_id}${node.pointer} ${action.id}`;
  const [set, setParams] = useState<JSONObject>(() => cardParams(card, action.provider));
  const [asking, setAsking] = useState(false);
  const schema = paramSchema(action, value);
  const params = schema ? currentParams(action, schema, set) : {};
  const changed = schema ? changedParams(action, schema, params) : {};
  const { start, clicks, dismiss } = useClicks(node, action);
  const keep = (now: JSONObject) => { setParams(now); saveCardParams(card, now); };
  const go = (standIn?: "offline") => {
    setAsking(false);
    if (schema) saveProviderParams(action.provider, changed);
    start(changed, standIn);
  };
  return (
    <div className="wf-action">
      {schema && <Params node={node} action={action} schema={schema} params={params} changed={changed} fixed={fixed} onChange={keep} />}
      <Sent text={action.prompt_as_sent} pending={state.saveStatus !== "saved"} />
      <Group gap="sm">
        <Button leftSection={<IconSparkles size={17} />} disabled={!action.enabled || fixed} onClick={() => (action.confirm ? setAsking(true) : go())}>{action.label}</Button>
        {!action.enabled && <span className="soft">{action.reason ?? "Fill in what the card needs first."}</span>}
      </Group>
      <Jobs node={node} action={action} clicks={clicks} onDismiss={dismiss} onStandIn={() => go("offline")} />
      <Modal opened={asking} onClose={() => setAsking(false)} title={action.question || `${action.label} with ${action.provider}?`}>
        <Price interaction={state.interaction.interaction_id} run={run} node={node} action={action} params={changed} />
        <Group gap="xs"><Button onClick={() => go()} data-autofocus>{action.label}</Button><Button variant="default" onClick={() => setAsking(false)}>Not now</Button></Group>
      </Modal>
    </div>
  );
}

interface ParamProps { node: Node; action: SubAction; schema: JSONObject; params: JSONObject; changed: JSONObject; fixed: boolean; onChange: (params: JSONObject) => void }

function Params({ node, action, schema, params, changed, fixed, onChange }: ParamProps) {
  const [open, setOpen] = useState(false);
  const few = Object.entries(params).slice(0, 4).map(([k, v]) => `${k.replaceAll("_", " ")} ${typeof v === "string" ? v : JSON.stringify(v)}`).join(", ");
  return (
    <details className="wf-params" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Parameters <span className="soft">{few}</span></summary>
      {open && (
        <Suspense fallback={<Skeleton h={60} />}>
          <DataForm id={`p${node.pointer.replace(/[^A-Za-z0-9]+/g, "-")}-${action.id}`} schema={schema} layout={paramLayout(action, schema)} value={params} disabled={fixed} onChange={(v) => onChange(isObject(v) ? v : {})} />
        </Suspense>
      )}
      {Object.keys(changed).length > 0 && !fixed && <Button size="compact-xs" variant="default" onClick={() => onChange({})}>Reset to defaults</Button>}
    </details>
  );
}

/** The prompt for the provider, as the server renders it from the saved data. */
function Sent({ text, pending }: { text: string; pending: boolean }) {
  return (
    <div className="wf-sent" data-pending={pending || undefined}>
      <span className="wf-sent-name">Prompt as sent</span>
      <p>{text || <span className="soft">Nothing yet: describe the picture.</span>}</p>
    </div>
  );
}
