import { SameTry } from '../../../shared/same-try.ts';
import { Store } from '../../../shared/store.ts';
import { currentAccount, currentPerson } from '../../session.ts';
import type { Uploaded } from '../../upload.ts';

/** What was written to a customer, or about one, and not sent yet, and how far it is on its way. */
interface DraftState {
  kind: 'reply' | 'note';
  content: string;
  files: readonly File[];
  /** Since when it is on its way, in milliseconds; null while it is not. */
  since: number | null;
  uploading: { uploaded: Uploaded; cancel: () => void } | null;
}

/** What is sent of a draft. */
export type Sent = Pick<DraftState, 'kind' | 'content' | 'files'> & { key: string };

const mostKept = 50;
const drafts = new Map<string, Draft>();

/**
 * What the person who is signed in writes in a conversation, kept while its page is left, of many the latest: who looks at a
 * run goes on writing after. Who signs in again goes on too; what one person wrote is for no other eyes.
 */
export function draftOf(conversationId: number): Draft {
  const key = `${currentPerson()} ${currentAccount()?.id} ${conversationId}`;
  const draft = drafts.get(key) ?? new Draft();
  for (const [one, { isNothing }] of drafts) if (isNothing) drafts.delete(one);
  drafts.delete(key);
  drafts.set(key, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > mostKept && oldest !== undefined) drafts.delete(oldest);
  return draft;
}

/** What is written in one conversation. It is on its way, and arrives, whether or not its page is shown. */
class Draft {
  readonly state = new Store<DraftState>({ kind: 'reply', content: '', files: [], since: null, uploading: null });
  // Whoever gets no answer sends the same again: with the same key the service takes it once.
  readonly #tries = new SameTry();

  /** Whether it may be forgotten. */
  get isNothing(): boolean {
    const { content, files, since } = this.state.value;
    return content === '' && files.length === 0 && since === null;
  }

  change(changes: Partial<DraftState>): void {
    this.state.set({ ...this.state.value, ...changes });
  }

  /** Sends it, once at a time: what was sent goes from the draft, and what was written meanwhile stays. */
  async send(post: (sent: Sent) => Promise<void>): Promise<void> {
    const { kind, content, files, since } = this.state.value;
    if (since !== null) return;
    this.change({ since: Date.now() });
    try {
      await post({ kind, content, files, key: this.#tries.keyOf(kind, content, ...files) });
      this.#tries.answered();
      const { value: now } = this.state;
      const rest = now.files.filter((file) => !files.includes(file));
      this.change({ content: now.content === content ? '' : now.content, files: rest });
    } finally {
      this.change({ since: null, uploading: null });
    }
  }
}
