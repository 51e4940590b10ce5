import { useEffect } from "react";

/** Keeps the place of the keyboard and of screen readers. When the focused element disappears and nothing else takes the
 * focus, its nearest ancestor that still exists gets it; after a dialog, the element that was focused before. */
export function useKeepFocus() {
  useEffect(() => {
    let focused: HTMLElement | undefined;
    let places: HTMLElement[] = []; // the element of the page that was focused last, and its ancestors
    const remember = (e: FocusEvent) => {
      focused = e.target as HTMLElement;
      if (focused.closest(".frame")) places = ancestors(focused);
    };
    const forget = () => { focused = undefined; };
    const observer = new MutationObserver(() => {
      if (!focused || focused.isConnected || document.activeElement !== document.body) return;
      forget();
      const place = places.find((p) => p.isConnected);
      if (place) moveFocus(place);
    });
    document.addEventListener("focusin", remember);
    document.addEventListener("pointerdown", forget);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener("focusin", remember);
      document.removeEventListener("pointerdown", forget);
      observer.disconnect();
    };
  }, []);
}

/** An element and its ancestors, up to the layout of the page. */
function ancestors(e: HTMLElement): HTMLElement[] {
  return e.parentElement && !e.classList.contains("frame") ? [e, ...ancestors(e.parentElement)] : [e];
}

/** Focuses an element, also one that is not focusable. */
function moveFocus(place: HTMLElement) {
  place.focus({ preventScroll: true });
  if (document.activeElement === place) return;
  place.tabIndex = -1;
  place.classList.add("holds-focus");
  place.addEventListener("blur", () => { place.removeAttribute("tabindex"); place.classList.remove("holds-focus"); }, { once: true });
  place.focus({ preventScroll: true });
}
