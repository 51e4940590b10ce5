import { startTransition, useLayoutEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import { flushSync } from "react-dom";

interface Props {
  /** The estimated height in px, until the content has been drawn. */
  estimatedHeight: number;
  /** Draws the content before its visibility is known. */
  eager?: boolean;
  /** Keeps the content drawn, for example while a person edits it. */
  keepMounted?: boolean;
  className?: string;
  children: () => ReactNode;
}

const margin = "1200px"; // drawn this far before it becomes visible

/** Draws its content only near the viewport, and for print. Elsewhere, an empty element of the same height takes its place. */
export function Windowed({ estimatedHeight, eager = false, keepMounted = false, className, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(eager);
  const [isPrinting, setPrinting] = useState(false);
  const height = useRef(estimatedHeight);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new IntersectionObserver((all) => {
      const entry = all.at(-1);
      if (!entry) return;
      if (!entry.isIntersecting) height.current = element.offsetHeight || height.current;
      const drawn = entry.isIntersecting || element.contains(document.activeElement);
      startTransition(() => setNear(drawn)); // as a transition, so that drawing ahead does not block scrolling
    }, { rootMargin: margin });
    observer.observe(element);
    const print = (e: Event) => flushSync(() => setPrinting(e.type === "beforeprint"));
    for (const name of ["beforeprint", "afterprint"]) window.addEventListener(name, print);
    return () => {
      observer.disconnect();
      for (const name of ["beforeprint", "afterprint"]) window.removeEventListener(name, print);
    };
  }, []);
  const isMounted = isNear || isPrinting || keepMounted;
  return <div ref={box} className={className ? `windowed ${className}` : "windowed"} {...(!isMounted && { style: { height: height.current } })}>{isMounted && children()}</div>;
}
