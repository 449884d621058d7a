/** Settings of when a conversation is idle. */
export interface Patience {
  days: number;
  notice_days: number;
  waiting: boolean;
}

const daySeconds = 24 * 3600;

/** Seconds from the last message to the word before; a minute at least. */
export function secondsToNotice({ days, notice_days: notice }: Patience): number {
  return Math.max(60, (days - notice) * daySeconds);
}

/** Seconds from the word before to the resolution. */
export function secondsOfNotice({ notice_days: notice }: Patience): number {
  return notice * daySeconds;
}

/** Whether a conversation may be resolved: nobody has set it aside, and the customer waits for nothing. */
export function isIdle(conversation: Readonly<Record<string, unknown>> | null, { waiting }: Patience): boolean {
  if (conversation === null) return false;
  const { status, waiting_since: since } = conversation;
  if (status !== 'open' && status !== 'pending') return false;
  return waiting || since === null;
}
