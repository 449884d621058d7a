import { countIncomplete, findIncomplete } from '../../../domain/imports/imports.ts';
import { importNotes } from '../../../domain/imports/notes.ts';
import { NoAnswer } from '../client.ts';
import { attempt, type CopiedSettings, type Copying } from '../copying.ts';
import { endIfStopped } from '../patience.ts';
import { toNote } from '../read/note.ts';
import { idOf, listOf, type Foreign } from '../values.ts';
import { addAuthors } from './messages.ts';

// Chatwoot answers slowly: the contacts of a page are requested a few at a time.
const [pageSize, atOnce] = [100, 4];
// After these failures in a row the other contacts are left out: they would wait for each try in vain.
const mostUnanswered = 5;

/**
 * Copies the notes about contacts that do not have them yet. Chatwoot's lists do not show notes, so each contact takes a
 * request. Contacts whose notes Chatwoot does not return are requested again in the next run.
 */
export async function copyNotes(copying: Copying, settings: CopiedSettings): Promise<void> {
  const { transact, importId, show } = copying;
  const work = new Work(copying, settings);
  let [after, done] = [0, 0];
  const total = await transact((tx) => countIncomplete(tx.sql, { accountId: tx.account.id, importId }, 'contact'));
  for (;;) {
    const page = await transact((tx) =>
      findIncomplete(tx.sql, { accountId: tx.account.id, importId }, { kind: 'contact', after, limit: pageSize }),
    );
    for (let at = 0; at < page.length; at += atOnce) {
      endIfStopped(copying.stopped);
      await Promise.all(page.slice(at, at + atOnce).map((id) => work.copyOrLeaveOut(id)));
      done += Math.min(atOnce, page.length - at);
      show('notes of contacts', done, total);
    }
    after = page.at(-1) ?? after;
    if (page.length < pageSize) return;
  }
}

class Work {
  readonly #copying: Copying;
  readonly #settings: CopiedSettings;
  #unanswered = 0;

  constructor(copying: Copying, settings: CopiedSettings) {
    this.#copying = copying;
    this.#settings = settings;
  }

  async copyOrLeaveOut(foreignId: number): Promise<void> {
    const leaveOut = (why: string): void =>
      this.#copying.reporter.leaveOut('notes', `notes of contact ${foreignId}`, why);
    if (this.#unanswered >= mostUnanswered) return leaveOut('their server does not answer');
    try {
      await attempt(() => this.#copy(foreignId), leaveOut);
      this.#unanswered = 0;
    } catch (error) {
      if (!(error instanceof NoAnswer) || error.status === null) throw error;
      this.#unanswered += 1;
      leaveOut(error.message);
    }
  }

  async #copy(foreignId: number): Promise<void> {
    const { client, account, transact, importId, reporter, clock } = this.#copying;
    const { authors } = this.#settings;
    const given = byAge(listOf(await client.get(`${account}/contacts/${foreignId}/notes`)) ?? []);
    await addAuthors(
      this.#copying,
      this.#settings,
      given.map(({ user }) => ({ sender: { ...(user as object), type: 'user' } })),
    );
    const read = given.flatMap((one) => toNote(one, authors, clock.now()) ?? []);
    const notes = read.map(({ note }) => note);
    const copied = await transact((tx) => importNotes(tx, { importId, foreignId }, notes));
    reporter.count('notes', 'created', copied);
    if (copied === 0) return;
    for (const problem of read.flatMap(({ problems }) => problems)) reporter.remark(`contact ${foreignId}`, problem);
  }
}

// Chatwoot lists the newest notes first; they are stored in the order of their ids.
function byAge(notes: readonly Foreign[]): Foreign[] {
  return notes.toSorted((one, other) => (idOf(one['id']) ?? 0) - (idOf(other['id']) ?? 0));
}
