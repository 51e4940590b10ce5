import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const near = 140; // px from the end that count as being at the end

/** Keeps the end of the page visible while it grows, unless the reader has scrolled up. */
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
