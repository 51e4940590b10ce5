import { ActionIcon, Drawer } from "@mantine/core";
import { IconMenu2, IconPencilPlus } from "@tabler/icons-react";
import { Link, Outlet } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useRunStore } from "../api/queries";
import { useNavigate } from "@tanstack/react-router";
import { Announcer } from "../parts/announce";
import { useKeepFocus } from "../parts/keep-focus";
import { Shortcuts } from "../parts/shortcuts";
import { Sidebar } from "../parts/sidebar";

/** The layout of every page: conversations in a sidebar, or in a drawer on a phone. */
export function Layout() {
  const [drawerOpen, setDrawerOpen] = useState(false);
  const [shortcutsOpen, setShortcutsOpen] = useState(false);
  useShortcuts(() => setShortcutsOpen(true), () => setDrawerOpen(true));
  useKeepFocus();
  useEffect(ignoreDroppedFiles, []);
  return (
    <div className="frame">
      <a className="skip" href="#main">Skip to content</a>
      <nav className="frame-sidebar" aria-label="Conversations"><Sidebar onNavigate={() => undefined} onShowShortcuts={() => setShortcutsOpen(true)} /></nav>
      <header className="frame-header">
        <ActionIcon aria-label="Conversations" onClick={() => setDrawerOpen(true)}><IconMenu2 size={20} /></ActionIcon>
        <Link to="/" className="brand"><img src="/favicon.svg" alt="" width={20} height={20} />Atelier</Link>
        <ActionIcon component={Link} to="/" aria-label="New conversation"><IconPencilPlus size={20} /></ActionIcon>
      </header>
      <Drawer opened={drawerOpen} onClose={() => setDrawerOpen(false)} size={300} title="Conversations" classNames={{ body: "drawer-body", content: "drawer" }}>
        <Sidebar onNavigate={() => setDrawerOpen(false)} onShowShortcuts={() => { setDrawerOpen(false); setShortcutsOpen(true); }} />
      </Drawer>
      <main id="main" tabIndex={-1}><ConnectionNotice /><Outlet /></main>
      <Shortcuts opened={shortcutsOpen} onClose={() => setShortcutsOpen(false)} />
      <Announcer />
    </div>
  );
}

/** Shows that the connection is lost, after a short delay. */
function ConnectionNotice() {
  const { connection } = useRunStore();
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (connection !== "lost") return setShown(false);
    const timer = setTimeout(() => setShown(true), 1200);
    return () => clearTimeout(timer);
  }, [connection]);
  return shown ? <div className="connection-lost" role="status">Reconnecting… Runs continue on the server.</div> : null;
}

/** Keeps the browser from replacing the page with a file that is dropped where nothing accepts it. */
function ignoreDroppedFiles() {
  const ignore = (e: DragEvent) => { if (e.dataTransfer?.types.includes("Files")) e.preventDefault(); };
  for (const name of ["dragover", "drop"] as const) document.addEventListener(name, ignore);
  return () => { for (const name of ["dragover", "drop"] as const) document.removeEventListener(name, ignore); };
}

/** Keyboard shortcuts, inactive in text fields. */
function useShortcuts(onHelp: () => void, onDrawer: () => void) {
  const navigate = useNavigate();
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const t = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || t.closest("input, textarea, select, [contenteditable]") || document.querySelector("[role=dialog], .yarl__portal")) return;
      if (e.key === "?") onHelp();
      else if (e.key === "n") void navigate({ to: "/" });
      else if (e.key === "g") void navigate({ to: "/gallery" });
      else if (e.key === "m") document.getElementById("message")?.focus();
      else if (e.key === "/") {
        const visible = [...document.querySelectorAll<HTMLElement>(".search input")].find((s) => s.offsetParent !== null);
        if (visible) visible.focus();
        else onDrawer();
      } else return;
      e.preventDefault();
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  });
}
