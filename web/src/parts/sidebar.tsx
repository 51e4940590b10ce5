import { ActionIcon, Button, Group, Menu, Skeleton, Switch, Text, TextInput, Tooltip, useMantineColorScheme } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconDeviceDesktop, IconKeyboard, IconLogout, IconMoon, IconPencilPlus, IconPhoto, IconSearch, IconSitemap, IconSun } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ConversationSummary } from "../api/contract";
import { useConversations, useHealth, useRunStore } from "../api/queries";
import { updateSettings, useSettings } from "../api/settings";
import { ConversationItem } from "./conversation-item";

interface Props { onNavigate: () => void; onShowShortcuts: () => void }

export function Sidebar({ onNavigate, onShowShortcuts }: Props) {
  const [q, setQ] = useState("");
  const [search] = useDebouncedValue(q.trim(), 200);
  return (
    <div className="sidebar">
      <Group justify="space-between" px={8} h={44} wrap="nowrap">
        <Link to="/" className="brand" onClick={onNavigate}><img src="/favicon.svg" alt="" width={22} height={22} />Atelier</Link>
      </Group>
      <Button component={Link} to="/" variant="default" leftSection={<IconPencilPlus size={17} />} justify="flex-start" onClick={onNavigate}>New conversation</Button>
      <Button component={Link} to="/gallery" variant="subtle" color="gray" className="sidebar-link" leftSection={<IconPhoto size={17} />} justify="flex-start" onClick={onNavigate}>Media</Button>
      <Button component={Link} to="/workflows" variant="subtle" color="gray" className="sidebar-link" leftSection={<IconSitemap size={17} />} justify="flex-start" onClick={onNavigate}>Workflows</Button>
      <TextInput
        className="search" aria-label="Search conversations" placeholder="Search" leftSection={<IconSearch size={15} />} maxLength={200} value={q} type="search"
        onChange={(e) => setQ(e.currentTarget.value)} onKeyDown={(e) => { if (e.key === "Escape") { setQ(""); e.currentTarget.blur(); } }}
      />
      <ConversationList q={search} onNavigate={onNavigate} />
      <SidebarFooter onShowShortcuts={onShowShortcuts} />
    </div>
  );
}

function ConversationList({ q, onNavigate }: { q: string; onNavigate: () => void }) {
  const list = useConversations(q);
  const withRunning = new Set(useRunStore().runningRuns().map((r) => r.conversationId));
  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  if (list.isPending) return <div className="conversation-list">{[70, 90, 55].map((w) => <Skeleton key={w} h={14} w={`${w}%`} mx={10} my={11} />)}</div>;
  if (items.length === 0 && !list.isError) return <Text size="sm" c="dimmed" className="conversation-list" p={10}>{q ? `Nothing found for “${q}”.` : "Your conversations will be listed here."}</Text>;
  return (
    <div className="conversation-list">
      {groupByAge(items).map(([when, some]) => (
        <section key={when} aria-label={when}>
          <h2 className="conversation-list-heading">{when}</h2>
          {some.map((c) => <ConversationItem key={c.id} item={c} isRunning={withRunning.has(c.id)} onNavigate={onNavigate} />)}
        </section>
      ))}
      {list.isError && <Text size="sm" c="dimmed" p={10}>The conversations could not be loaded: {list.error.message}</Text>}
      {list.isError && !list.hasNextPage && <Button variant="subtle" color="gray" size="xs" fullWidth loading={list.isFetching} onClick={() => void list.refetch()}>Try again</Button>}
      {list.hasNextPage && <Button variant="subtle" color="gray" size="xs" fullWidth loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Show older</Button>}
    </div>
  );
}

function groupByAge(items: ConversationSummary[]): [string, ConversationSummary[]][] {
  const day = new Date().setHours(0, 0, 0, 0);
  const groups = new Map<string, ConversationSummary[]>();
  for (const c of items) {
    const at = Date.parse(c.updated_at);
    const when = at >= day ? "Today" : at >= day - 86_400_000 ? "Yesterday" : at >= day - 6 * 86_400_000 ? "This week" : "Earlier";
    groups.set(when, [...(groups.get(when) ?? []), c]);
  }
  return [...groups];
}

function SidebarFooter({ onShowShortcuts }: { onShowShortcuts: () => void }) {
  const { developer } = useSettings();
  const token = useHealth().data?.token;
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemeNames = { light: "Light", dark: "Dark", auto: "System" } as const;
  const schemeIcons = { light: IconSun, dark: IconMoon, auto: IconDeviceDesktop } as const;
  const SchemeIcon = schemeIcons[colorScheme];
  return (
    <div className="sidebar-footer">
      <Switch size="sm" label="Developer" checked={developer} onChange={(e) => updateSettings({ developer: e.currentTarget.checked })} />
      <Group gap={2}>
        <Menu position="top-end" shadow="md">
          <Menu.Target><ActionIcon aria-label={`Theme: ${schemeNames[colorScheme]}`}><SchemeIcon size={18} /></ActionIcon></Menu.Target>
          <Menu.Dropdown>
            {(["light", "dark", "auto"] as const).map((s) => {
              const Icon = schemeIcons[s];
              return <Menu.Item key={s} leftSection={<Icon size={15} />} onClick={() => setColorScheme(s)} fw={s === colorScheme ? 600 : 400}>{schemeNames[s]}</Menu.Item>;
            })}
          </Menu.Dropdown>
        </Menu>
        {token && <Tooltip label="Sign out"><ActionIcon component="a" href="/login" aria-label={`Signed in with ${token}: sign out`}><IconLogout size={18} /></ActionIcon></Tooltip>}
        <Tooltip label="Keyboard shortcuts (?)"><ActionIcon aria-label="Keyboard shortcuts" onClick={onShowShortcuts}><IconKeyboard size={18} /></ActionIcon></Tooltip>
      </Group>
    </div>
  );
}
