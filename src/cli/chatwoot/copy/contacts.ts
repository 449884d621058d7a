import { importContacts, type ContactOutcome } from '../../../domain/imports/contacts.ts';
import { findImported } from '../../../domain/imports/imports.ts';
import { attempt, type CopiedSettings, type Copying, type Ids } from '../copying.ts';
import { pagesOf } from '../pages.ts';
import type { Counted } from '../report.ts';
import { toContact, type ReadContact } from '../read/contact.ts';
import { idOf, recordOf, type Foreign } from '../values.ts';
import { findLabels, labelsOfOne, type LabelsOf } from './contact-labels.ts';

/** Contacts of Chatwoot's list, and visitors, whom only conversations name. */
type Kind = Extract<Counted, 'contacts' | 'visitors'>;

const query = { sort: 'created_at', include_contact_inboxes: 'true' };

/** Copies the contacts that Chatwoot lists: all with an address, a number or an identifier. */
export async function copyContacts(copying: Copying, settings: CopiedSettings): Promise<void> {
  const { client, account, reporter } = copying;
  const labelsOf = await findLabels(copying);
  const leaveOut = (what: string, why: string): void => reporter.leaveOut('contacts', what, why);
  let done = 0;
  for await (const { records, count } of pagesOf(client, `${account}/contacts`, { query, leaveOut })) {
    if (done === 0) reporter.theirs('contacts', count);
    await copySome(copying, settings, { kind: 'contacts', records, labelsOf });
    done += records.length;
    copying.show('contacts', done, count);
  }
}

async function copySome(
  copying: Copying,
  settings: Pick<CopiedSettings, 'inboxes'>,
  { kind, records, labelsOf }: { kind: Kind; records: readonly Foreign[]; labelsOf: LabelsOf },
): Promise<void> {
  const known = await findContacts(
    copying,
    records.flatMap(({ id }) => idOf(id) ?? []),
  );
  const read: ReadContact[] = [];
  for (const given of records) {
    const id = idOf(given['id']);
    const labels = id === null || known.has(id) ? [] : await labelsOf(id);
    const contact = toContact(given, {
      now: copying.clock.now(),
      inboxes: settings.inboxes,
      labels,
      admitsClients: copying.admitsClients,
    });
    if (contact === null) copying.reporter.leaveOut(kind, 'contact without an id', 'it has no id');
    else read.push(contact);
  }
  await writeAll(copying, kind, read);
}

async function writeAll(copying: Copying, kind: Kind, read: readonly ReadContact[]): Promise<void> {
  const { reporter } = copying;
  // All in one transaction, or each in its own if one of them cannot be stored.
  const isDone = await attempt(
    () => write(copying, kind, read),
    () => undefined,
  );
  if (isDone !== null) return;
  for (const one of read)
    await attempt(
      () => write(copying, kind, [one]),
      (why) => reporter.leaveOut(kind, nameOf(one), why),
    );
}

async function write(
  { transact, importId, reporter }: Copying,
  kind: Kind,
  read: readonly ReadContact[],
): Promise<true> {
  const contacts = read.map(({ contact }) => contact);
  const outcomes = await transact((tx) => importContacts(tx, importId, contacts));
  for (const [index, outcome] of outcomes.entries())
    tell(reporter, kind, { read: read[index] as ReadContact, outcome });
  return true;
}

function tell(
  reporter: Copying['reporter'],
  kind: Kind,
  { read, outcome: { outcome, localId } }: { read: ReadContact; outcome: ContactOutcome },
): void {
  const isWritten = outcome === 'created' || outcome === 'updated';
  reporter.count(kind, isWritten ? outcome : 'unchanged');
  if (isWritten) for (const problem of read.problems) reporter.remark(nameOf(read), problem);
  if (outcome === 'found')
    reporter.remark(
      `contact ${read.contact.foreignId} (${localId} here)`,
      'its identifier was here: what was empty was filled, all else stays as it is here, and later changes there do not come',
    );
  if (outcome === 'kept') reporter.remark(nameOf(read), 'changed there and here: it stays as it is here');
}

function nameOf({ contact }: ReadContact): string {
  return `contact ${contact.foreignId}`;
}

/**
 * Returns the id here of a conversation's contact, who is copied now if Chatwoot's list did not show them: it leaves out
 * visitors without an address. Null if the conversation names no contact.
 */
export async function contactOf(
  copying: Copying,
  settings: Pick<CopiedSettings, 'inboxes'>,
  sender: Foreign,
): Promise<number | null> {
  const foreignId = idOf(sender['id']);
  if (foreignId === null) return null;
  const present = await findContacts(copying, [foreignId]);
  if (present.size > 0) return present.get(foreignId) ?? null;
  const answer = recordOf(await copying.client.get(`${copying.account}/contacts/${foreignId}`));
  const shown = recordOf(answer['payload']);
  const given = idOf(shown['id']) === foreignId ? shown : sender;
  await copySome(copying, settings, { kind: 'visitors', records: [given], labelsOf: (id) => labelsOfOne(copying, id) });
  return (await findContacts(copying, [foreignId])).get(foreignId) ?? null;
}

/** Returns the ids here of contacts that were copied. */
async function findContacts({ transact, importId }: Copying, foreignIds: readonly number[]): Promise<Ids> {
  const found = await transact((tx) =>
    findImported(tx.sql, { accountId: tx.account.id, importId }, { kind: 'contact', foreignIds }),
  );
  return new Map(Array.from(found, ([id, { localId }]) => [id, localId]));
}
