import { importContacts, type ContactOutcome } from '../../../domain/imports/contacts.ts';
import { findImported } from '../../../domain/imports/imports.ts';
import { attempt, type CopiedSettings, type Copying } from '../copying.ts';
import { pagesOf } from '../pages.ts';
import { toContact, type ReadContact } from '../read/contact.ts';
import { titleOf } from '../read/settings.ts';
import { idOf, recordOf, textOf, type Foreign } from '../values.ts';

type Titles = ReadonlyMap<number, readonly string[]>;

const listed = { sort: 'created_at', include_contact_inboxes: 'true' };

/** Copies the contacts that their server lists: all with an address, a number or an identifier. */
export async function copyContacts(copying: Copying, settings: CopiedSettings): Promise<void> {
  const { client, account, reporter } = copying;
  const titles = await readLabels(copying);
  let done = 0;
  for await (const { records, count } of pagesOf(client, `${account}/contacts`, listed)) {
    if (done === 0) reporter.theirs('contacts', count);
    await copySome(copying, settings, { records, titles });
    done += records.length;
    copying.show('contacts', done, count);
  }
}

/** The labels of contacts, by their ids: their lists do not show them, but can be asked for those with a label. */
async function readLabels({ client, account, show }: Copying): Promise<Titles> {
  const titles = new Map<number, string[]>();
  const labels = recordOf(await client.get(`${account}/labels`))['payload'];
  for (const [index, label] of (Array.isArray(labels) ? labels : []).entries()) {
    const given = textOf(recordOf(label)['title'], 255);
    const title = titleOf(given);
    if (given === null || title === null) continue;
    show('labels of contacts', index, (labels as unknown[]).length);
    const query = { 'labels[]': given, sort: 'created_at', include_contact_inboxes: 'false' };
    for await (const { records } of pagesOf(client, `${account}/contacts`, query))
      for (const { id } of records) add(titles, idOf(id), title);
  }
  return titles;
}

function add(titles: Map<number, string[]>, id: number | null, title: string): void {
  if (id === null) return;
  const present = titles.get(id);
  if (present) present.push(title);
  else titles.set(id, [title]);
}

async function copySome(
  copying: Copying,
  settings: Pick<CopiedSettings, 'inboxes'>,
  { records, titles }: { records: readonly Foreign[]; titles: Titles },
): Promise<void> {
  const { reporter } = copying;
  const read = records.flatMap((given) => {
    const labels = titles.get(idOf(given['id']) ?? 0) ?? [];
    const contact = toContact(given, { now: copying.clock.now(), inboxes: settings.inboxes, labels });
    if (contact === null) reporter.leaveOut('contacts', 'contact without an id', 'it has no id');
    return contact ?? [];
  });
  // Together, or one by one where one of them cannot be stored.
  const isDone = await attempt(
    () => write(copying, read),
    () => undefined,
  );
  if (isDone !== null) return;
  for (const one of read)
    await attempt(
      () => write(copying, [one]),
      (why) => reporter.leaveOut('contacts', nameOf(one), why),
    );
}

async function write({ transact, importId, reporter }: Copying, read: readonly ReadContact[]): Promise<true> {
  const contacts = read.map(({ contact }) => contact);
  const outcomes = await transact((tx) => importContacts(tx, importId, contacts));
  for (const [index, outcome] of outcomes.entries()) tell(reporter, read[index] as ReadContact, outcome);
  return true;
}

function tell(reporter: Copying['reporter'], read: ReadContact, outcome: ContactOutcome): void {
  const isWritten = outcome === 'created' || outcome === 'updated';
  reporter.count('contacts', isWritten ? outcome : 'unchanged');
  if (isWritten) for (const problem of read.problems) reporter.remark(nameOf(read), problem);
  if (outcome === 'kept') reporter.remark(nameOf(read), 'changed there and here: it stays as it is here');
}

function nameOf({ contact }: ReadContact): string {
  return `contact ${contact.foreignId}`;
}

/**
 * The id here of the contact of a conversation, who is copied now where their list did not show it, as it does not show
 * visitors without an address. Null where nobody is named.
 */
export async function contactOf(
  copying: Copying,
  settings: Pick<CopiedSettings, 'inboxes'>,
  sender: Foreign,
): Promise<number | null> {
  const foreignId = idOf(sender['id']);
  if (foreignId === null) return null;
  const present = await findContact(copying, foreignId);
  if (present !== null) return present;
  const answer = recordOf(await copying.client.get(`${copying.account}/contacts/${foreignId}`));
  const shown = recordOf(answer['payload']);
  const given = idOf(shown['id']) === foreignId ? shown : sender;
  await copySome(copying, settings, { records: [given], titles: new Map() });
  return findContact(copying, foreignId);
}

async function findContact({ transact, importId }: Copying, foreignId: number): Promise<number | null> {
  const found = await transact((tx) =>
    findImported(tx.connection, { accountId: tx.account.id, importId }, { kind: 'contact', foreignIds: [foreignId] }),
  );
  return found.get(foreignId)?.localId ?? null;
}
