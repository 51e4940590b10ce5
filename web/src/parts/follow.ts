import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const near = 140; // px from the end that still count as being there

/** Keeps the end of the page in sight while it grows, unless its reader has gone up. */
export function useFollow(count: string, version: number): { away: boolean; toEnd: () => void } {
  const [away, setAway] = useState(false);
  const following = useRef(true);
  const toEnd = useCallback(() => {
    following.current = true;
    window.scrollTo({ top: document.documentElement.scrollHeight });
  }, []);
  useEffect(() => {
    const look = () => {
      const rest = document.documentElement.scrollHeight - window.innerHeight - window.scrollY;
      following.current = rest < near;
      setAway(rest > 600);
    };
    window.addEventListener("scroll", look, { passive: true });
    return () => window.removeEventListener("scroll", look);
  }, []);
  useLayoutEffect(() => { if (count !== "0") toEnd(); }, [count, toEnd]);
  useLayoutEffect(() => { if (following.current) window.scrollTo({ top: document.documentElement.scrollHeight }); }, [version]);
  return { away, toEnd };
}
