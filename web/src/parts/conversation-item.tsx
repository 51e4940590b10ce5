import { ActionIcon, Menu, TextInput } from "@mantine/core";
import { IconDots, IconPencil, IconTrash } from "@tabler/icons-react";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { api } from "../api/client";
import type { ConversationSummary } from "../api/contract";
import { queryClient } from "../api/queries";
import { showError, showUndo } from "./notice";

interface Props { item: ConversationSummary; isRunning: boolean; onNavigate: () => void }

const refetchConversations = () => queryClient.invalidateQueries({ queryKey: ["conversations"] });

/** One conversation in the list, with its menu. */
export function ConversationItem({ item, isRunning, onNavigate }: Props) {
  const [editing, setEditing] = useState(false);
  const menu = useRef<HTMLButtonElement>(null);
  const navigate = useNavigate();
  const isOpen = useParams({ strict: false }).id === item.id;
  const remove = async () => {
    try {
      await api.remove(item.id);
      if (isOpen) await navigate({ to: "/" });
      await refetchConversations();
      showUndo("Conversation deleted", () => { api.restore(item.id).then(refetchConversations, showError); });
    } catch (e) {
      showError(e);
    }
  };
  const endEditing = () => {
    setEditing(false);
    requestAnimationFrame(() => { if (!document.activeElement?.matches("a, button, input, textarea")) menu.current?.focus(); }); // not if the person has focused another control
  };
  if (editing) return <Rename item={item} onDone={endEditing} />;
  return (
    <div className="conversation-item" data-open={isOpen || undefined}>
      <Link to="/c/$id" params={{ id: item.id }} resetScroll={false /* it opens at its end */} className="conversation-item-link" onClick={onNavigate} aria-current={isOpen ? "page" : undefined} title={item.title}>
        <span className="conversation-item-title" dir="auto">{item.title || "Untitled"}</span>
        {isRunning && <span className="pulse" role="img" aria-label="working" />}
      </Link>
      <Menu position="bottom-end" shadow="md" withinPortal>
        <Menu.Target>
          <ActionIcon ref={menu} size={28} className="conversation-item-menu" aria-label={`Actions of ${item.title || "Untitled"}`}><IconDots size={16} /></ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => setEditing(true)}>Rename</Menu.Item>
          <Menu.Item leftSection={<IconTrash size={15} />} c="var(--error)" onClick={() => void remove()}>Delete</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

function Rename({ item, onDone }: { item: ConversationSummary; onDone: () => void }) {
  const [title, setTitle] = useState(item.title);
  const [isClosed, setClosed] = useState(false);
  const save = async () => {
    if (isClosed) return;
    setClosed(true);
    try {
      if (title.trim() && title.trim() !== item.title) {
        await api.rename(item.id, title.trim());
        await Promise.all([refetchConversations(), queryClient.invalidateQueries({ queryKey: ["conversation", item.id] })]);
      }
      onDone();
    } catch (e) {
      showError(e);
      setClosed(false); // the typed title stays
    }
  };
  return (
    <TextInput
      size="xs" my={3} aria-label="New title" value={title} autoFocus onFocus={(e) => e.currentTarget.select()}
      onChange={(e) => setTitle(e.currentTarget.value)} onBlur={() => void save()}
      onKeyDown={(e) => {
        if (e.key === "Enter" && !e.nativeEvent.isComposing) void save();
        if (e.key === "Escape") { e.stopPropagation(); setClosed(true); onDone(); }
      }}
    />
  );
}
