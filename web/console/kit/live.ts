import { useEffect, useRef } from 'preact/hooks';
import type { LiveEvent } from '../../shared/live.ts';
import { live } from '../session.ts';

/**
 * Calls `heard` with each event of the account as long as the component is shown, and with `missed` where some are lost: then
 * what is shown is to be loaded anew.
 */
export function useLive(heard: (event: LiveEvent | 'missed') => void): void {
  const latest = useRef(heard);
  latest.current = heard;
  useEffect(() => live.listen((event) => latest.current(event)), []);
}

const gatherMs = 300;

/** Reloads what is shown soon after events that `concerns` picks, once for many of them. */
export function useReloadOn(concerns: (event: LiveEvent) => boolean, reload: () => Promise<void>): void {
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useLive((event) => {
    if (timer.current !== null || (event !== 'missed' && !concerns(event))) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      void reload();
    }, gatherMs);
  });
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
}
