import { ActionIcon, Menu, TextInput } from "@mantine/core";
import { IconDots, IconPencil, IconTrash } from "@tabler/icons-react";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client";
import type { ConversationSummary } from "../api/contract";
import { queryClient } from "../api/queries";
import { showProblem, showUndo } from "./notice";

interface Props { item: ConversationSummary; active: boolean; onPick: () => void }

const renew = () => queryClient.invalidateQueries({ queryKey: ["conversations"] });

/** One conversation in the list, with its menu. */
export function ConversationItem({ item, active, onPick }: Props) {
  const [editing, setEditing] = useState(false);
  const navigate = useNavigate();
  const open = useParams({ strict: false }).id === item.id;
  const remove = async () => {
    try {
      await api.remove(item.id);
      if (open) await navigate({ to: "/" });
      await renew();
      showUndo("Conversation deleted", () => { api.restore(item.id).then(renew, showProblem); });
    } catch (e) {
      showProblem(e);
    }
  };
  if (editing) return <Rename item={item} done={() => setEditing(false)} />;
  return (
    <div className="talk" data-open={open || undefined}>
      <Link to="/c/$id" params={{ id: item.id }} className="talk-link" onClick={onPick} aria-current={open ? "page" : undefined} title={item.title}>
        <span className="talk-title">{item.title || "Untitled"}</span>
        {active && <span className="pulse" role="img" aria-label="working" />}
      </Link>
      <Menu position="bottom-end" shadow="md" withinPortal>
        <Menu.Target>
          <ActionIcon size={28} className="talk-menu" aria-label={`Actions of ${item.title || "Untitled"}`}><IconDots size={16} /></ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => setEditing(true)}>Rename</Menu.Item>
          <Menu.Item leftSection={<IconTrash size={15} />} color="red" onClick={() => void remove()}>Delete</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

function Rename({ item, done }: { item: ConversationSummary; done: () => void }) {
  const [title, setTitle] = useState(item.title);
  const [over, setOver] = useState(false);
  const save = async () => {
    if (over) return;
    setOver(true);
    try {
      if (title.trim() && title.trim() !== item.title) {
        await api.rename(item.id, title.trim());
        await Promise.all([renew(), queryClient.invalidateQueries({ queryKey: ["conversation", item.id] })]);
      }
    } catch (e) {
      showProblem(e);
    }
    done();
  };
  return (
    <TextInput
      size="xs" my={3} aria-label="New title" value={title} autoFocus onFocus={(e) => e.currentTarget.select()}
      onChange={(e) => setTitle(e.currentTarget.value)} onBlur={() => void save()}
      onKeyDown={(e) => {
        if (e.key === "Enter" && !e.nativeEvent.isComposing) void save();
        if (e.key === "Escape") { e.stopPropagation(); setOver(true); done(); }
      }}
    />
  );
}
