import { useNavigate } from "@tanstack/react-router";

/** Gives the function that opens a medium by its own address, ?media=ID, or compares it with
 * another one, ?media=ID&with=ID; empty closes it. */
export function useOpenMedia(): (id: string, other?: string) => void {
  const navigate = useNavigate();
  return (id, other) => void navigate({ to: ".", search: (now) => kept(now, id, other), resetScroll: false });
}

/** The other parts of the URL with the open item. */
function kept(now: object, id: string, other: string | undefined): object {
  const { media: _media, with: _with, ...rest } = now as { media?: string; with?: string };
  return { ...rest, ...(id && { media: id }), ...(id && other && { with: other }) };
}
