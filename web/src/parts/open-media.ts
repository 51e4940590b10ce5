import { useNavigate, useRouter } from "@tanstack/react-router";
import type { Media } from "../api/contract";
import { useDraft } from "../api/draft";

/** Returns the function that attaches an item to a new message and opens that. The text becomes that of an empty draft. */
export function useInNewMessage(): (m: Media, text?: string) => void {
  const navigate = useNavigate();
  const draft = useDraft("new");
  return (m, text) => {
    draft.attachMedia(m, text);
    void navigate({ to: "/", search: {} });
  };
}

/** Returns the function that opens an item at ?media=ID, or compares it with another one at
 * ?media=ID&with=ID. An empty id closes it. However many items are viewed, the browser's history has one entry for them,
 * so that going back closes them. */
export function useOpenMedia(): (id: string, other?: string) => void {
  const navigate = useNavigate();
  const router = useRouter();
  return (id, other) => void navigate({ to: ".", search: (now) => withOpenMedia(now, id, other), resetScroll: false, replace: "media" in router.state.location.search });
}

/** The search parameters with the open item. */
function withOpenMedia(now: object, id: string, other: string | undefined): object {
  const { media: _media, with: _with, ...rest } = now as { media?: string; with?: string };
  return { ...rest, ...(id && { media: id }), ...(id && other && { with: other }) };
}
