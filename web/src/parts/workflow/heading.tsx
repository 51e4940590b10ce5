import type { ReactNode } from "react";

/** A heading of a level between 2 and 6. */
export function Heading({ level, children }: { level: number; children: ReactNode }) {
  const H = `h${Math.min(6, Math.max(2, level))}` as "h2";
  return children ? <H className="node-title">{children}</H> : null;
}
