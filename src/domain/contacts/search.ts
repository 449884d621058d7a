import { contactText } from '../../records/contacts/search-text.ts';
import type { Contact } from '../../records/contacts/contact.ts';
import { conditionsSql, type Condition, type Filterable } from '../../postgres/conditions.ts';
import { containing } from '../../postgres/like.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Page } from '../small-rows.ts';
import { contactsPerPage, findContacts } from './contacts.ts';

const filterable: Filterable = {
  fields: {
    name: { kind: 'text', at: 'k.name', within: contactText },
    email: { kind: 'text', at: 'k.email', within: contactText },
    phone_number: { kind: 'exact', at: 'k.phone_number', within: contactText, spell: withPlus },
    identifier: { kind: 'exact', at: 'k.identifier', within: contactText },
    blocked: { kind: 'flag', at: 'k.blocked' },
    labels: {
      kind: 'titles',
      at: `ARRAY(SELECT l.title FROM contact_labels cl JOIN labels l ON l.account_id = cl.account_id AND l.id = cl.label_id
        WHERE cl.account_id = k.account_id AND cl.contact_id = k.id)`,
    },
  },
  attributes: 'k.custom_attributes',
};

/**
 * Returns one page of the contacts whose name, e-mail address, phone number or identifier contains the text in any case, sorted
 * by name; and their total number.
 */
export function searchContacts(
  sql: Sql,
  accountId: number,
  { text, page }: { text: string; page: number },
): Promise<Page<Contact>> {
  return findPage(sql, { parameters: [accountId, containing(text)], condition: `${contactText} LIKE lower($2)` }, page);
}

/** Returns one page of the contacts that meet the conditions, sorted by name; and their total number. Errors: 422. */
export function filterContacts(
  sql: Sql,
  accountId: number,
  { conditions, page }: { conditions: readonly Condition[]; page: number },
): Promise<Page<Contact>> {
  const parameters: unknown[] = [accountId];
  return findPage(sql, { condition: conditionsSql(conditions, filterable, parameters), parameters }, page);
}

// The LEFT JOIN keeps a row with the total when the page is empty.
async function findPage(
  sql: Sql,
  { condition, parameters }: { condition: string; parameters: readonly unknown[] },
  page: number,
): Promise<Page<Contact>> {
  const position = [contactsPerPage, (page - 1) * contactsPerPage];
  const [size, offset] = [parameters.length + 1, parameters.length + 2];
  const found = await sql<{ count: number; id: number | null }>(
    `WITH found AS MATERIALIZED (
       SELECT k.id, lower(k.name) AS name FROM contacts k WHERE k.account_id = $1 AND ${condition}
     )
     SELECT total.count, page.id FROM (SELECT count(*) AS count FROM found) total
     LEFT JOIN (SELECT * FROM found ORDER BY name, id LIMIT $${size} OFFSET $${offset}) page ON true ORDER BY page.name, page.id`,
    [...parameters, ...position],
  );
  const ids = found.flatMap(({ id }) => id ?? []);
  const accountId = Number(parameters[0]);
  return { rows: await findContacts(sql, accountId, ids), count: found[0]?.count ?? 0, page, perPage: contactsPerPage };
}

// All numbers begin with a plus, which many clients leave out.
function withPlus(number: string): string {
  return /^\d/.test(number) ? `+${number}` : number;
}
