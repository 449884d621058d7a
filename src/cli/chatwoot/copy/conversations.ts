import type { ConversationOutcome, ForeignConversation } from '../../../domain/imports/conversations.ts';
import { findImported, type Imported } from '../../../domain/imports/imports.ts';
import { NoAnswer } from '../client.ts';
import { writeBatch } from './batches.ts';
import { contactOf } from './contacts.ts';
import { readMessages } from './messages.ts';
import { attempt, type CopiedSettings, type Copying } from '../copying.ts';
import { pagesOf } from '../pages.ts';
import { endIfStopped } from '../patience.ts';
import { lastMessageOf, toConversation } from '../read/conversation.ts';
import { idOf, recordOf, type Foreign } from '../values.ts';

/** Oldest first, so that changes in Chatwoot during the import move no conversation to another page. */
const query = { status: 'all', assignee_type: 'all', sort_by: 'created_at_asc' };
// Chatwoot answers slowly: more requests at once would slow it down for its agents.
const atOnce = 4;
// More failures in a row than these are no broken records: they end the import.
const mostUnanswered = 5;

/** Copies conversations with their messages. */
export async function copyConversations(copying: Copying, settings: CopiedSettings): Promise<void> {
  const { client, account, reporter, show } = copying;
  const walk = new Walk(copying, settings);
  const leaveOut = (what: string, why: string): void => reporter.leaveOut('conversations', what, why);
  let done = 0;
  for await (const { records, count } of pagesOf(client, `${account}/conversations`, { query, leaveOut })) {
    if (done === 0) reporter.theirs('conversations', count);
    await walk.copyPage(records);
    done += records.length;
    show('conversations', done, count);
  }
}

class Walk {
  readonly #copying: Copying;
  readonly #settings: CopiedSettings;
  #unanswered = 0;

  constructor(copying: Copying, settings: CopiedSettings) {
    this.#copying = copying;
    this.#settings = settings;
  }

  async copyPage(records: readonly Foreign[]): Promise<void> {
    const known = await this.#findKnown(records);
    const waiting = [...records];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        await this.#copyOrLeaveOut(next, known.get(idOf(next['id']) ?? 0)).catch((error: unknown) => {
          waiting.length = 0;
          throw error;
        });
    };
    const ended = await Promise.allSettled(Array.from({ length: atOnce }, work));
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  #findKnown(records: readonly Foreign[]): Promise<Map<number, Imported>> {
    const { transact, importId } = this.#copying;
    const foreignIds = records.flatMap(({ id }) => idOf(id) ?? []);
    return transact((tx) =>
      findImported(tx.sql, { accountId: tx.account.id, importId }, { kind: 'conversation', foreignIds }),
    );
  }

  // Leaves out a conversation that Chatwoot cannot show, as long as it can show others.
  async #copyOrLeaveOut(given: Foreign, known: Imported | undefined): Promise<void> {
    const leaveOut = (why: string): void =>
      this.#copying.reporter.leaveOut('conversations', `conversation ${idOf(given['id'])}`, why);
    try {
      await attempt(() => this.#copyOne(given, known, leaveOut), leaveOut);
      this.#unanswered = 0;
    } catch (error) {
      this.#unanswered += 1;
      if (!(error instanceof NoAnswer) || error.status === null || this.#unanswered > mostUnanswered) throw error;
      leaveOut(error.message);
    }
  }

  async #copyOne(given: Foreign, known: Imported | undefined, leaveOut: (why: string) => void): Promise<void> {
    const { reporter } = this.#copying;
    const read = toConversation(given, this.#settings, this.#copying.clock.now());
    if (typeof read === 'string') return known ? reporter.count('conversations', 'unchanged') : leaveOut(read);
    const { conversation, problems } = read;
    if (known && isCopied(known, conversation, given)) return reporter.count('conversations', 'unchanged');
    const { sender } = recordOf(given['meta']);
    const contactId = known ? null : await contactOf(this.#copying, this.#settings, recordOf(sender));
    const outcome = await this.#write({ ...conversation, contactId }, known?.cursor ?? 0);
    if (outcome === 'homeless') return leaveOut('its inbox or its contact was deleted here');
    this.#tell(outcome, `conversation ${conversation.foreignId}`, problems);
  }

  #tell(outcome: ConversationOutcome['outcome'], name: string, problems: readonly string[]): void {
    const { reporter } = this.#copying;
    reporter.count('conversations', outcome === 'created' || outcome === 'updated' ? outcome : 'unchanged');
    if (outcome === 'kept') reporter.remark(name, 'changed there and worked on here: it stays as it is here');
    if (outcome === 'created' || outcome === 'updated') for (const problem of problems) reporter.remark(name, problem);
  }

  /** Writes a conversation in batches of its messages; returns the outcome of the first batch. */
  async #write(conversation: ForeignConversation, after: number): Promise<ConversationOutcome['outcome']> {
    const { foreignId, lastActivityAt: otherwise } = conversation;
    let first: ConversationOutcome['outcome'] | null = null;
    for await (const batch of readMessages(this.#copying, this.#settings, { foreignId, after, otherwise })) {
      endIfStopped(this.#copying.stopped);
      const outcome = await writeBatch(this.#copying, conversation, batch);
      first ??= outcome;
      if (outcome === 'deleted' || outcome === 'homeless') break;
    }
    return first ?? 'unchanged';
  }
}

// Null as the version: the copy was erased here with its contact.
function isCopied(known: Imported, { version }: { version: string }, given: Foreign): boolean {
  if (known.version === null) return true;
  const last = lastMessageOf(given);
  return known.complete && known.version === version && last !== null && last <= known.cursor;
}
