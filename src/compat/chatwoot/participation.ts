import { invalid } from '../../errors.ts';
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

// A blank answer of theirs means that the mail is on its way.
function theirTranscript({ sent }: Json): null {
  if (sent === true) return null;
  throw invalid('', 'mail', 'The service has no mail server (SMTP_URL): no transcript was sent');
}

/** Participants of conversations, and files that were sent. */
export const participationOperations: readonly Operation[] = [
  { method: 'POST', path: `${accounts}/conversations/:id/transcript`, answer: theirTranscript },
  {
    method: 'GET',
    path: `${accounts}/conversations/:id/participants`,
    answer: ({ payload }: Json) => listOf(payload).map(theirAgent),
  },
  { method: 'GET', path: `${accounts}/conversations/:id/attachments`, answer: theirFiles },
  { method: 'GET', path: `${accounts}/contacts/:id/attachments`, answer: theirFiles },
];
