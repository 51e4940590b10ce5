import type { ReactNode } from "react";

/** A page that cannot be shown: what happened, and where to go. */
export function NotFound({ title, children }: { title: string; children: ReactNode }) {
  return <div className="column not-found" role="alert"><h1>{title}</h1>{children}</div>;
}
