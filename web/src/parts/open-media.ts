import { useNavigate } from "@tanstack/react-router";

/** Returns the function that opens an item at ?media=ID, or compares it with another one at
 * ?media=ID&with=ID. An empty id closes it. */
export function useOpenMedia(): (id: string, other?: string) => void {
  const navigate = useNavigate();
  return (id, other) => void navigate({ to: ".", search: (now) => withOpenMedia(now, id, other), resetScroll: false });
}

/** The search parameters with the open item. */
function withOpenMedia(now: object, id: string, other: string | undefined): object {
  const { media: _media, with: _with, ...rest } = now as { media?: string; with?: string };
  return { ...rest, ...(id && { media: id }), ...(id && other && { with: other }) };
}
