import { Button, SegmentedControl, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { Media } from "../api/contract";
import { useMediaList } from "../api/queries";
import { MediaItems } from "../parts/media-item";
import { MediaView } from "../parts/media-view";
import { useInNewMessage } from "../parts/open-media";
import { gridHeight } from "../parts/picture";
import { Windowed } from "../parts/windowed";

const kinds = [{ value: "", label: "All" }, { value: "image", label: "Pictures" }, { value: "audio", label: "Audio" }, { value: "video", label: "Video" }, { value: "document", label: "Documents" }];

/** All generated or uploaded media, newest first. The URL holds the search and the filter. */
export function GalleryPage() {
  const { q = "", kind = "" } = useSearch({ from: "/gallery" });
  const navigate = useNavigate({ from: "/gallery" });
  const [text, setText] = useState(q);
  const [debouncedText] = useDebouncedValue(text.trim(), 250);
  const filter = (change: { q?: string; kind?: string }) => void navigate({ search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false });
  useEffect(() => { if (debouncedText !== q) filter({ q: debouncedText }); }, [debouncedText]);
  useEffect(() => { if (q !== debouncedText) setText(q); }, [q]); // a link changed the address
  useEffect(() => { document.title = "Media · Atelier"; }, []);
  const list = useMediaList(q, kind);
  const pages = list.data?.pages.map((p) => p.items) ?? [];
  return (
    <div className="gallery">
      <header className="gallery-head">
        <h1>Media</h1>
        <TextInput type="search" aria-label="Search media" placeholder="Search" leftSection={<IconSearch size={15} />} maxLength={200} value={text} onChange={(e) => setText(e.currentTarget.value)} />
        <SegmentedControl aria-label="Kind" data={kinds} value={kind} onChange={(k) => filter({ kind: k })} size="xs" />
      </header>
      {pages.map((items) => items[0] && <Page key={items[0].id} items={items} />)}
      {list.isSuccess && pages.every((p) => p.length === 0) && <Text c="var(--text-muted)">{q || kind ? "No media matches the search and the filter." : "Media that you attach or generate is listed here."}</Text>}
      {list.isError && <Text c="var(--text-muted)">The list could not be loaded: {list.error.message} <Button size="compact-sm" variant="default" loading={list.isFetching} onClick={() => void (list.hasNextPage ? list.fetchNextPage() : list.refetch())}>Try again</Button></Text>}
      <LoadMoreTrigger more={list.hasNextPage && !list.isFetchingNextPage && !list.isError} onMore={() => void list.fetchNextPage()} />
      <MediaView pictures={pages.flat()} onUse={useInNewMessage()} />
    </div>
  );
}

function Page({ items }: { items: Media[] }) {
  const pictures = items.filter((m) => m.modality === "image").length;
  const width = Math.min(1352, window.innerWidth - (window.innerWidth > 820 ? 320 : 48));
  return <Windowed className="gallery-page" estimatedHeight={gridHeight(pictures, width) + 64 * (items.length - pictures)}>{() => <MediaItems media={items} />}</Windowed>;
}

/** Loads the next page when the end becomes visible. */
function LoadMoreTrigger({ more, onMore }: { more: boolean; onMore: () => void }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!more || !end.current) return;
    const observer = new IntersectionObserver((all) => { if (all.at(-1)?.isIntersecting) onMore(); }, { rootMargin: "1000px" });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [more, onMore]);
  return <div ref={end} aria-hidden />;
}
