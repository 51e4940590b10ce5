import { ActionIcon, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconArrowForwardUp } from "@tabler/icons-react";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { KeyboardEvent } from "react";
import { InteractionEditor } from "../../api/interaction-editor";
import type { EditorState } from "../../api/interaction-editor";
import { useRunStore } from "../../api/queries";
import { useSubActions } from "../../api/workflow-queries";
import { workflowApi } from "../../api/workflows";
import { pointerOf } from "../../schema/pointer";
import { availableContents, retainAvailable, toggle } from "../../schema/selection";
import type { Selection } from "../../schema/selection";
import { walkNodes } from "../../schema/view";
import type { Interaction } from "../../schema/view";
import { AnswerBar } from "./answer-bar";
import { SharedProvider } from "./context";
import { useFailures } from "./failures";
import { NodeView } from "./node";

interface Props { interaction: Interaction; run: string; /** A preview is read-only. */ preview?: boolean }

/** An interaction of a workflow: forms, sub-actions, choices and the answer. */
export function InteractionPart({ interaction, run, preview = false }: Props) {
  const [desk] = useState(() => new InteractionEditor(interaction, workflowApi));
  const state = useSyncExternalStore(desk.subscribe, desk.snapshot);
  const [chosen, setChoice] = useState<Selection>({});
  const jobs = useSubActions(preview ? "" : run).data?.items ?? [];
  const now = state.interaction;
  useFollow(desk, interaction, preview);
  useFailures(jobs, now.interaction_id);
  const editable = useMemo(() => [...walkNodes(now.view)].some((n) => n.form), [now.view]);
  const targets = useMemo(() => new Set([...walkNodes(now.view)].flatMap((n) => (n.sub_actions ?? []).map((a) => pointerOf(a.result_target)))), [now.view]);
  const choice = useMemo(() => retainAvailable(chosen, availableContents(now)), [chosen, now]);
  const fixed = preview || (now.status !== undefined && now.status !== "open");
  const keys = (e: KeyboardEvent) => {
    if (!(e.ctrlKey || e.metaKey) || e.altKey || e.key.toLowerCase() !== "z" || fixed) return;
    e.preventDefault();
    if (e.shiftKey) desk.redo();
    else desk.undo();
  };
  return (
    <SharedProvider value={{ run, desk, state, fixed, choice, jobs, targets, toggle: (g, id) => setChoice((c) => toggle(retainAvailable(c, availableContents(desk.state.interaction)), g, id)) }}>
      <div className="interaction" onKeyDown={keys}>
        <header className="interaction-head">
          <h2 className="grow">{now.title}</h2>
          {editable && !fixed && <Tools desk={desk} state={state} />}
        </header>
        <NodeView node={now.view} level={3} />
        {!preview && <AnswerBar />}
      </div>
    </SharedProvider>
  );
}

/** Keeps an interaction in sync with the server: from the stream, after a lost connection, and when the
 * interaction is fetched again. Drafts are saved when the page is hidden or left. */
function useFollow(desk: InteractionEditor, interaction: Interaction, preview: boolean) {
  const store = useRunStore();
  useEffect(() => desk.replace(interaction), [desk, interaction]);
  useEffect(() => (preview ? undefined : store.onEvent((e) => {
    if (e.name === "interaction-patched" && e.data.interaction_id === interaction.interaction_id) desk.applyChange({ version: e.data.version ?? 0, patch: e.data.patch ?? [], changes: e.data.changes ?? { nodes: [] } });
  })), [desk, store, preview, interaction.interaction_id]);
  useEffect(() => { if (store.connection === "open" && !preview) void desk.reload(); }, [desk, store.connection, preview]);
  useEffect(() => {
    const leave = () => { if (document.visibilityState === "hidden") void desk.flush(); };
    document.addEventListener("visibilitychange", leave);
    return () => { document.removeEventListener("visibilitychange", leave); void desk.flush(); };
  }, [desk]);
}

const words = { saved: "Saved", typing: "Saving…", saving: "Saving…", failed: "Not saved" };

function Tools({ desk, state }: { desk: InteractionEditor; state: EditorState }) {
  const problem = state.saveStatus === "failed" ? state.error?.message : undefined;
  return (
    <div className="interaction-tools">
      <span role="status" className={state.saveStatus === "failed" ? "bad" : "soft"} data-saving={state.saveStatus}>{words[state.saveStatus]}{problem && `: ${problem}`}</span>
      <Tooltip label="Undo (Ctrl+Z)"><ActionIcon aria-label="Undo" disabled={state.edits.undo.length === 0} onClick={() => desk.undo()}><IconArrowBackUp size={18} /></ActionIcon></Tooltip>
      <Tooltip label="Redo (Ctrl+Shift+Z)"><ActionIcon aria-label="Redo" disabled={state.edits.redo.length === 0} onClick={() => desk.redo()}><IconArrowForwardUp size={18} /></ActionIcon></Tooltip>
    </div>
  );
}
