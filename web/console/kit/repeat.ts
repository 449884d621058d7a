import { useEffect, useRef } from 'preact/hooks';

const everyMs = 2_000;

/** Loads again and again what changes without an event, as long as that is wanted and the page is looked at. */
export function useRepeat(isWanted: boolean, reload: () => Promise<void>, ms = everyMs): void {
  const latest = useRef(reload);
  latest.current = reload;
  const isLoading = useRef(false);
  useEffect(() => {
    if (!isWanted) return undefined;
    const timer = setInterval(() => {
      // A load that began would abort the one before it: an answer that takes longer than the pause would never be shown.
      if (document.visibilityState !== 'visible' || isLoading.current) return;
      isLoading.current = true;
      void latest.current().finally(() => (isLoading.current = false));
    }, ms);
    return () => clearInterval(timer);
  }, [isWanted, ms]);
}
