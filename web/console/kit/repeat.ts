import { useEffect, useRef } from 'preact/hooks';

const everyMs = 2_000;

/** Loads again and again what changes without an event, as long as that is wanted and the page is looked at. */
export function useRepeat(isWanted: boolean, reload: () => Promise<void>, ms = everyMs): void {
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => {
    if (!isWanted) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void latest.current();
    }, ms);
    return () => clearInterval(timer);
  }, [isWanted, ms]);
}
