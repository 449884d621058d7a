import { currentAccount, session } from '../../session.ts';

/** What was written to a customer, or about one, and not sent yet. */
export interface Draft {
  kind: 'reply' | 'note';
  content: string;
  files: readonly File[];
}

const mostKept = 50;
const drafts = new Map<string, Draft>();
const nothing: Draft = { kind: 'reply', content: '', files: [] };

let writer: number | null = null;

// Who signs in again after the sign-in has expired goes on writing; what one person wrote is for no other eyes.
session.watch((now) => {
  if (now.state !== 'in' || now.profile.id === writer) return;
  writer = now.profile.id;
  drafts.clear();
});

/** The draft of a conversation, kept while its page is left: who looks at a run goes on writing afterwards. */
export function draftOf(conversationId: number): Draft {
  return drafts.get(keyOf(conversationId)) ?? nothing;
}

/** Keeps a draft; of many the latest. */
export function keepDraft(conversationId: number, draft: Draft): void {
  const key = keyOf(conversationId);
  drafts.delete(key);
  if (draft.content === '' && draft.files.length === 0) return;
  drafts.set(key, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > mostKept && oldest !== undefined) drafts.delete(oldest);
}

function keyOf(conversationId: number): string {
  return `${currentAccount()?.id} ${conversationId}`;
}
