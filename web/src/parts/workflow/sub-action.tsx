import { Button, Group, Modal, Skeleton } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import { Suspense, lazy, useState } from "react";
import { cardParams, saveCardParams, saveProviderParams } from "../../api/params";
import { changedParams, currentParams, paramLayout, paramSchema } from "../../schema/params";
import { isObject } from "../../schema/pointer";
import type { JSONObject, JSONValue } from "../../schema/pointer";
import type { Node, SubAction } from "../../schema/view";
import { useInteractionContext } from "./context";
import { SubActionRuns } from "./sub-action-runs";
import { Price } from "./price";
import { useSubActionStarts } from "./sub-action-starts";

const DataForm = lazy(() => import("./data-form"));

interface Props { node: Node; action: SubAction; value: JSONValue | undefined }

/** A sub-action of a card: its parameters, the prompt and its runs. */
export function SubActionView({ node, action, value }: Props) {
  const { readOnly, state } = useInteractionContext();
  const card = `${state.interaction.interaction_id}${node.pointer} ${action.id}`;
  const [edited, setEdited] = useState<JSONObject>(() => cardParams(card, action.provider));
  const [isConfirming, setConfirming] = useState(false);
  const schema = paramSchema(action, value);
  const params = schema ? currentParams(action, schema, edited) : {};
  const changed = schema ? changedParams(action, schema, params) : {};
  const { start, starts, dismiss } = useSubActionStarts(node, action);
  const changeParams = (now: JSONObject) => { setEdited(now); saveCardParams(card, now); };
  const generate = (standIn?: "offline") => {
    setConfirming(false);
    if (schema) saveProviderParams(action.provider, changed);
    start(changed, standIn);
  };
  return (
    <div className="wf-action">
      {schema && <Params action={action} schema={schema} params={params} changed={changed} readOnly={readOnly} onChange={changeParams} />}
      <PromptPreview text={action.prompt_as_sent} pending={state.saveStatus !== "saved"} />
      <Group gap="sm">
        <Button leftSection={<IconSparkles size={17} />} disabled={!action.enabled || readOnly} onClick={() => (action.confirm ? setConfirming(true) : generate())}>{action.label}</Button>
        {!action.enabled && <span className="muted">{action.reason ?? "Fill in what the card needs first."}</span>}
      </Group>
      <SubActionRuns node={node} action={action} starts={starts} onDismiss={dismiss} onStandIn={() => generate("offline")} />
      <Modal opened={isConfirming} onClose={() => setConfirming(false)} title={action.question || `${action.label} with ${action.provider}?`}>
        <Price interaction={state.interaction.interaction_id} node={node} action={action} params={changed} />
        <Group gap="xs"><Button onClick={() => generate()} data-autofocus>{action.label}</Button><Button variant="default" onClick={() => setConfirming(false)}>Not now</Button></Group>
      </Modal>
    </div>
  );
}

interface ParamProps { action: SubAction; schema: JSONObject; params: JSONObject; changed: JSONObject; readOnly: boolean; onChange: (params: JSONObject) => void }

function Params({ action, schema, params, changed, readOnly, onChange }: ParamProps) {
  const [open, setOpen] = useState(false);
  const summary = Object.entries(params).slice(0, 4).map(([k, v]) => `${k.replaceAll("_", " ")} ${typeof v === "string" ? v : JSON.stringify(v)}`).join(", ");
  return (
    <details className="wf-params" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Parameters <span className="muted">{summary}</span></summary>
      {open && (
        <Suspense fallback={<Skeleton h={60} />}>
          <DataForm schema={schema} layout={paramLayout(action, schema)} value={params} disabled={readOnly} onChange={(v) => onChange(isObject(v) ? v : {})} />
        </Suspense>
      )}
      {Object.keys(changed).length > 0 && !readOnly && <Button size="compact-xs" variant="default" onClick={() => onChange({})}>Reset to defaults</Button>}
    </details>
  );
}

/** The prompt for the provider, as the server renders it from the saved data. */
function PromptPreview({ text, pending }: { text: string; pending: boolean }) {
  return (
    <div className="wf-prompt" data-pending={pending || undefined}>
      <span className="wf-prompt-name">Prompt as sent</span>
      <p>{text || <span className="muted">Nothing yet: describe the picture.</span>}</p>
    </div>
  );
}
