import { SameTry } from '../../../shared/same-try.ts';
import { Store } from '../../../shared/store.ts';
import { draftKey, readDraft, writeDraft } from '../../kit/kept-drafts.ts';
import type { Uploaded } from '../../upload.ts';

/** An unsent reply or note, and its progress while it is sent. */
interface DraftState {
  kind: 'reply' | 'note';
  content: string;
  files: readonly File[];
  /** Since when it is on its way, in milliseconds; null while it is not. */
  since: number | null;
  uploading: { uploaded: Uploaded; cancel: () => void } | null;
}

/** Part of a draft that is sent. */
export type Sent = Pick<DraftState, 'kind' | 'content' | 'files'> & { key: string };

const mostKept = 50;
const drafts = new Map<string, Draft>();

/**
 * Unsent message of the signed-in person in a conversation. It outlives the page, so that looking at a
 * run loses nothing, and its text outlives a reload. Nobody else sees it. The latest drafts are kept.
 */
export function draftOf(conversationId: number): Draft {
  const key = draftKey(`conversation ${conversationId}`);
  const draft = drafts.get(key) ?? new Draft(key);
  for (const [one, { isNothing }] of drafts) if (isNothing) drafts.delete(one);
  drafts.delete(key);
  drafts.set(key, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > mostKept && oldest !== undefined) drafts.delete(oldest);
  return draft;
}

/** An unsent message in a conversation. Sending goes on when its page is left. */
class Draft {
  readonly state: Store<DraftState>;
  // A retry after a lost response uses the same key, so that the service takes the message once.
  readonly #tries = new SameTry();
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
    const { kind, content } = (readDraft(key) ?? {}) as { kind?: unknown; content?: unknown };
    this.state = new Store<DraftState>({
      kind: kind === 'note' ? 'note' : 'reply',
      content: typeof content === 'string' ? content : '',
      files: [],
      since: null,
      uploading: null,
    });
  }

  /** Whether it may be forgotten. */
  get isNothing(): boolean {
    const { content, files, since } = this.state.value;
    return content === '' && files.length === 0 && since === null;
  }

  change(changes: Partial<DraftState>): void {
    const { kind, content } = { ...this.state.value, ...changes };
    const { kind: oldKind, content: oldContent } = this.state.value;
    this.state.set({ ...this.state.value, ...changes });
    // Files cannot be kept over a reload.
    if (kind !== oldKind || content !== oldContent) writeDraft(this.#key, content === '' ? null : { kind, content });
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
