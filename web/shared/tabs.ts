/** Pages of one browser share its sign-in, and tell each other when it has changed. */
const channel = new BroadcastChannel('switchboard-sign-in');

/** Tells the browser's other pages that somebody has signed in, or out. */
export function tellTabs(): void {
  // Only pages of the same origin hear it.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(null);
}

/** Calls `look` when the sign-in may be another one: another page says so, or somebody looks at this one again. */
export function watchTabs(look: () => void): void {
  channel.addEventListener('message', look);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') look();
  });
}
