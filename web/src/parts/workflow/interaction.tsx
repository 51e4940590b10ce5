import { ActionIcon, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconArrowForwardUp } from "@tabler/icons-react";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { KeyboardEvent } from "react";
import { InteractionEditor } from "../../api/interaction-editor";
import type { EditorState, UnsavedEdit } from "../../api/interaction-editor";
import { useRunStore } from "../../api/queries";
import { readStored, writeStored } from "../../api/storage";
import { useSubActions } from "../../api/workflow-queries";
import { workflowApi } from "../../api/workflows";
import { pathOf, pointerOf } from "../../schema/pointer";
import { availableContents, retainAvailable, toggle } from "../../schema/selection";
import type { Selection } from "../../schema/selection";
import { walkNodes } from "../../schema/view";
import type { Group, Interaction } from "../../schema/view";
import { AnswerBar } from "./answer-bar";
import { InteractionProvider } from "./context";
import type { SubActionStart } from "./context";
import { useFailureNotices } from "./failures";
import { NodeView } from "./node";

interface Props { interaction: Interaction; run: string; /** A preview is read-only. */ preview?: boolean }

/** An interaction of a workflow: forms, sub-actions, choices and the answer. */
export function InteractionView({ interaction, run, preview = false }: Props) {
  const [editor] = useState(() => new InteractionEditor(interaction, workflowApi));
  const state = useSyncExternalStore(editor.subscribe, editor.snapshot);
  const selectionKey = `atelier-selection ${interaction.interaction_id}`;
  const [selected, setSelected] = useState(() => (readStored<Selection>(() => sessionStorage, selectionKey) ?? {}) as Selection);
  const [starts, setStarts] = useState<SubActionStart[]>([]);
  const jobs = useSubActions(preview ? "" : run).data?.items ?? [];
  const current = state.interaction;
  useSync(editor, interaction, preview);
  useFailureNotices(jobs, current.interaction_id);
  const editable = useMemo(() => [...walkNodes(current.view)].some((n) => n.form), [current.view]);
  const resultPointers = useMemo(() => new Set([...walkNodes(current.view)].flatMap((n) => (n.sub_actions ?? []).map((a) => pointerOf(a.result_target)))), [current.view]);
  const selection = useMemo(() => retainAvailable(selected, availableContents(current)), [selected, current]);
  const readOnly = preview || (current.status !== undefined && current.status !== "open");
  const toggleSelection = (g: Group, id: string) => {
    const next = toggle(selection, g, id);
    setSelected(next);
    writeStored(() => sessionStorage, selectionKey, next); // survives a reload, and the view of an earlier step
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (!(e.ctrlKey || e.metaKey) || e.altKey || e.key.toLowerCase() !== "z" || readOnly) return;
    const field = e.target as Element;
    if (field.closest(".wf-params, .answer-bar") || !e.currentTarget.contains(field)) return; // not part of the data: the browser undoes
    e.preventDefault();
    if (e.shiftKey) editor.redo();
    else editor.undo();
  };
  return (
    <InteractionProvider value={{ run, editor, state, readOnly, selection, jobs, starts, setStarts, resultPointers, toggleSelection }}>
      <div className="interaction" onKeyDown={onKeyDown}>
        <header className="interaction-head">
          <h2 className="grow">{current.title}</h2>
          {editable && !readOnly && <EditTools editor={editor} state={state} />}
        </header>
        <NodeView node={current.view} level={3} />
        {!preview && <AnswerBar />}
      </div>
    </InteractionProvider>
  );
}

/** Keeps an interaction in sync with the server: from the stream, after a lost connection, and when the
 * interaction is fetched again. Drafts are saved after a lost connection, and when the page is hidden or left. What cannot
 * be saved then, because the server is down or the access token has expired, is kept in the tab for its next visit. */
function useSync(editor: InteractionEditor, interaction: Interaction, preview: boolean) {
  const store = useRunStore();
  useEffect(() => editor.replace(interaction), [editor, interaction]);
  useEffect(() => (preview ? undefined : store.onEvent((e) => {
    if (e.name === "interaction-patched" && e.data.interaction_id === interaction.interaction_id) editor.applyChange({ version: e.data.version ?? 0, patch: e.data.patch ?? [], changes: e.data.changes ?? { nodes: [] } });
  })), [editor, store, preview, interaction.interaction_id]);
  useEffect(() => { if (store.connection === "open" && !preview) void editor.reload().then(() => editor.flush()); }, [editor, store.connection, preview]);
  useEffect(() => {
    if (preview) return undefined;
    const key = `atelier-edits ${interaction.interaction_id}`;
    const keep = () => writeStored(() => sessionStorage, key, { edits: editor.unsaved() });
    const { edits = [] } = readStored<{ edits: UnsavedEdit[] }>(() => sessionStorage, key) ?? {};
    if (edits.length > 0 && interaction.status === "open") editor.restore(edits);
    writeStored(() => sessionStorage, key, {});
    const leave = () => { if (document.visibilityState === "hidden") void editor.flush(); };
    document.addEventListener("visibilitychange", leave);
    window.addEventListener("pagehide", keep);
    return () => {
      document.removeEventListener("visibilitychange", leave);
      window.removeEventListener("pagehide", keep);
      void editor.flush().then(keep);
    };
  }, [editor]);
}

const statusText = { saved: "Saved", typing: "Saving…", saving: "Saving…", failed: "Not saved" };

function EditTools({ editor, state }: { editor: InteractionEditor; state: EditorState }) {
  const invalid = [...new Set(state.error?.fieldErrors.map((f) => pathOf(f.pointer).at(-1)))]; // the fields show why
  const problem = state.saveStatus !== "failed" ? undefined : invalid.length > 0 ? `correct ${invalid.join(", ")}` : state.error?.message;
  return (
    <div className="interaction-tools">
      <span role="status" className={state.saveStatus === "failed" ? "error" : "muted"} data-save-status={state.saveStatus}>{statusText[state.saveStatus]}{problem && `: ${problem}`}</span>
      <Tooltip label="Undo (Ctrl+Z)"><ActionIcon aria-label="Undo" disabled={state.edits.undo.length === 0} onClick={() => editor.undo()}><IconArrowBackUp size={18} /></ActionIcon></Tooltip>
      <Tooltip label="Redo (Ctrl+Shift+Z)"><ActionIcon aria-label="Redo" disabled={state.edits.redo.length === 0} onClick={() => editor.redo()}><IconArrowForwardUp size={18} /></ActionIcon></Tooltip>
    </div>
  );
}
