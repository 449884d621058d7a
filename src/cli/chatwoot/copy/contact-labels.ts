import type { Copying } from '../copying.ts';
import { listAt, pagesOf } from '../pages.ts';
import { titleOf, titlesOf } from '../read/settings.ts';
import { idOf, listOf, recordOf, textOf } from '../values.ts';

/** The titles of the labels of a contact, by its id there. */
export type LabelsOf = (contactId: number) => Promise<readonly string[]>;

/**
 * How to find the labels of contacts: their list does not show them, but can be asked for those with a label. Where it is not
 * heard, each contact is asked for.
 */
export async function findLabels(copying: Copying): Promise<LabelsOf> {
  if (await ignoresLabels(copying)) return (id) => labelsOfOne(copying, id);
  const titles = await readLabels(copying);
  return (id) => Promise.resolve(titles.get(id) ?? []);
}

/** The labels of one contact. */
export async function labelsOfOne({ client, account }: Copying, id: number): Promise<readonly string[]> {
  return titlesOf(recordOf(await client.get(`${account}/contacts/${id}/labels`))['payload']);
}

async function ignoresLabels({ client, account, random }: Copying): Promise<boolean> {
  const unknown = { 'labels[]': random.uuid(), include_contact_inboxes: 'false' };
  return listOf(await client.get(`${account}/contacts`, unknown))?.length !== 0;
}

async function readLabels({
  client,
  account,
  show,
  reporter,
}: Copying): Promise<ReadonlyMap<number, readonly string[]>> {
  const titles = new Map<number, string[]>();
  const leaveOut = (what: string, why: string): void => reporter.remark(`labels on ${what}`, why);
  const labels = await listAt(client, `${account}/labels`);
  for (const [index, label] of labels.entries()) {
    const given = textOf(label['title'], 255);
    const title = titleOf(given);
    if (given === null || title === null) continue;
    show('labels of contacts', index, labels.length);
    const query = { 'labels[]': given, sort: 'created_at', include_contact_inboxes: 'false' };
    for await (const { records } of pagesOf(client, `${account}/contacts`, { query, leaveOut }))
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
