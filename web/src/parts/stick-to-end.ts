import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const endMargin = 140; // px from the end that count as being at the end

/** Keeps the end of the page visible while it grows, unless the reader has scrolled up. */
export function useStickToEnd(count: string, version: number): { isAway: boolean; scrollToEnd: () => void } {
  const [isAway, setAway] = useState(false);
  const atEnd = useRef(true);
  const scrollToEnd = useCallback(() => {
    atEnd.current = true;
    window.scrollTo({ top: document.documentElement.scrollHeight });
  }, []);
  useEffect(() => {
    const onScroll = () => {
      const remaining = document.documentElement.scrollHeight - window.innerHeight - window.scrollY;
      atEnd.current = remaining < endMargin;
      setAway(remaining > 600);
    };
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => window.removeEventListener("scroll", onScroll);
  }, []);
  useLayoutEffect(() => { if (count !== "0") scrollToEnd(); }, [count, scrollToEnd]);
  useLayoutEffect(() => { if (atEnd.current) window.scrollTo({ top: document.documentElement.scrollHeight }); }, [version]);
  return { isAway, scrollToEnd };
}
