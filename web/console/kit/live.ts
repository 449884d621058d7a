import { useEffect, useRef } from 'preact/hooks';
import type { LiveEvent } from '../../shared/live.ts';
import { live } from '../session.ts';
import { sharedWebhook } from '../shared-webhook.ts';

/**
 * Calls `heard` with each event of the account as long as the component is shown, and with `missed` where some are lost: then
 * what is shown is to be loaded anew.
 */
export function useLive(heard: (event: LiveEvent | 'missed') => void): void {
  const latest = useRef(heard);
  latest.current = heard;
  // A link that shares a webhook opens no stream.
  useEffect(() => (sharedWebhook ? undefined : live.listen((event) => latest.current(event))), []);
}

const gatherMs = 300;

/**
 * Reloads what is shown soon after events that `concerns` picks, once for many of them. The next reload waits for the end of
 * this one: under a stream of events that never pauses, each would else end the one before, and nothing would be shown.
 */
export function useReloadOn(concerns: (event: LiveEvent) => boolean, reload: () => Promise<void>): void {
  const latest = useRef(reload);
  latest.current = reload;
  const state = useRef<{
    timer?: ReturnType<typeof setTimeout>;
    isLoading: boolean;
    isStale: boolean;
    isOver: boolean;
  }>({
    isLoading: false,
    isStale: false,
    isOver: false,
  });
  const reloadSoon = (): void => {
    const { current } = state;
    if (current.timer !== undefined || current.isOver) return;
    if (current.isLoading) current.isStale = true;
    else current.timer = setTimeout(() => void run(), gatherMs);
  };
  const run = async (): Promise<void> => {
    const { current } = state;
    delete current.timer;
    Object.assign(current, { isLoading: true, isStale: false });
    await latest.current();
    current.isLoading = false;
    if (current.isStale) reloadSoon();
  };
  useLive((event) => {
    if (event === 'missed' || concerns(event)) reloadSoon();
  });
  useEffect(() => {
    const { current } = state;
    return () => {
      clearTimeout(current.timer);
      current.isOver = true;
    };
  }, []);
}
