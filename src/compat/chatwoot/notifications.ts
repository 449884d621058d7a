import type { Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/notifications';

/** Notifications: lists are in `data`, and the count of unread ones is a number alone. */
export const notificationOperations: readonly Operation[] = [
  { method: 'GET', path: base, answer: ({ payload, meta }: Json) => ({ data: { payload, meta } }) },
  { method: 'GET', path: `${base}/unread_count`, answer: ({ unread_count: count }: Json) => count },
];
