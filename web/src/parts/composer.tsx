import { ActionIcon, Textarea, Tooltip } from "@mantine/core";
import { IconArrowUp, IconPaperclip, IconPlayerStopFilled } from "@tabler/icons-react";
import { useRef } from "react";
import type { ClipboardEvent, KeyboardEvent } from "react";
import type { Draft } from "../api/draft";
import { AttachmentItem } from "./attachment";
import { AgentAndModelMenus } from "./agent-model-menus";

interface Props {
  draft: Draft;
  /** Sends the draft; the composer is locked only while it is being sent. */
  onSend: () => void;
  sending: boolean;
  /** Stops the runs; absent if there are none. */
  onStop?: (() => void) | undefined;
  autoFocus?: boolean;
}

/** The form for a message: text, files, agent and models. */
export function Composer({ draft, onSend, sending, onStop, autoFocus }: Props) {
  const fileInput = useRef<HTMLInputElement>(null);
  const hasMedia = draft.attachments.some((a) => a.media);
  const canSend = !sending && !draft.uploading && (draft.text.trim() !== "" || hasMedia);
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || e.shiftKey || e.nativeEvent.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    if (canSend) onSend();
  };
  const onPaste = (e: ClipboardEvent) => {
    if (e.clipboardData.files.length === 0) return;
    e.preventDefault();
    draft.attach(e.clipboardData.files);
  };
  const items = draft.attachments.map((a) => <AttachmentItem key={a.key} file={a} onRemove={() => draft.remove(a.key)} />);
  return (
    <form className="composer" onSubmit={(e) => { e.preventDefault(); if (canSend) onSend(); }}>
      {items.length > 0 && <ul className="attachments" aria-label="Attached files">{items}</ul>}
      <Textarea
        id="message" aria-label="Message" placeholder="Ask, or say what to draw" variant="unstyled" autosize minRows={1} maxRows={10} autoFocus={autoFocus ?? false}
        value={draft.text} onChange={(e) => draft.setText(e.currentTarget.value)} onKeyDown={onKeyDown} onPaste={onPaste} dir="auto"
      />
      <div className="composer-bar">
        <input ref={fileInput} type="file" multiple hidden aria-label="Files to attach" onChange={(e) => { draft.attach(e.currentTarget.files ?? []); e.currentTarget.value = ""; }} />
        <Tooltip label="Attach pictures or data files"><ActionIcon aria-label="Attach files" onClick={() => fileInput.current?.click()}><IconPaperclip size={19} /></ActionIcon></Tooltip>
        <AgentAndModelMenus />
        <span className="grow" />
        {onStop && <Tooltip label="Stop the answer (Esc)"><ActionIcon variant="default" radius="xl" size={36} aria-label="Stop" onClick={onStop}><IconPlayerStopFilled size={16} /></ActionIcon></Tooltip>}
        <Tooltip label={draft.uploading ? "Files are being uploaded" : "Send (Enter)"}>
          <ActionIcon variant="filled" color="clay" radius="xl" size={36} aria-label="Send" type="submit" aria-disabled={!canSend} loading={sending}><IconArrowUp size={20} /></ActionIcon>
        </Tooltip>
      </div>
    </form>
  );
}
