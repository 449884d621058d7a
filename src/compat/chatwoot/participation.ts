import { theirAgent } from './agent-records.ts';
import { listOf, objectOf } from './json.ts';
import { theirSender } from './message-records.ts';
import type { Json, Operation } from './operation.ts';

const accounts = '/api/v1/accounts/:account_id';

function theirFiles({ payload, meta }: Json): Json {
  return {
    meta: { ...objectOf(meta), total_count: objectOf(meta)['count'] },
    payload: listOf(payload).map(({ attachment, sender, ...rest }) => ({
      ...objectOf(attachment),
      ...rest,
      ...(sender ? { sender: theirSender(objectOf(sender)) } : {}),
    })),
  };
}

/** Participants of conversations, and files that were sent. */
export const participationOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: `${accounts}/conversations/:id/participants`,
    answer: ({ payload }: Json) => listOf(payload).map(theirAgent),
  },
  { method: 'GET', path: `${accounts}/conversations/:id/attachments`, answer: theirFiles },
  { method: 'GET', path: `${accounts}/contacts/:id/attachments`, answer: theirFiles },
];
