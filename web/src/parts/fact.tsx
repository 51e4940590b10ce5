import type { ReactNode } from "react";

/** A name and its value in a list of facts; nothing if the value is missing. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return children !== undefined && children !== "" ? <><dt>{name}</dt><dd>{children}</dd></> : null;
}
