import { theirContact, theirPlace, theirPlaces } from './contact-records.ts';
import { needed, restOf } from './asking.ts';
import { readConditions } from './conditions.ts';
import { dropBlanks, leaveOut, listOf, objectOf, unpack } from './json.ts';
import type { Asked, Json, Operation } from './operation.ts';

const accounts = '/api/v1/accounts/:account_id';
const base = `${accounts}/contacts`;
const attributes = ['custom_attributes', 'additional_attributes'];
const sortable = /^-?(?:name|email|phone_number|last_activity_at|created_at)$/;
const times = /^-?(?:last_activity_at|created_at)$/;

// The first known of several sort fields counts; times sort the oldest first without a minus, as all other fields do.
function readList(query: URLSearchParams): void {
  dropBlanks(query, ['page']);
  const [sort] = (query.get('sort') ?? '').split(',').filter((wish) => sortable.test(wish));
  query.delete('sort');
  if (sort !== undefined) query.set('sort', times.test(sort) ? flipped(sort) : sort);
  includeInboxes(query);
}

// Bridges look for their inbox there, and create the contact again if it is missing.
function includeInboxes(query: URLSearchParams): void {
  if (!query.has('include_contact_inboxes')) query.set('include_contact_inboxes', 'true');
}

function flipped(sort: string): string {
  return sort.startsWith('-') ? sort.slice(1) : `-${sort}`;
}

function readSearch(query: URLSearchParams): void {
  dropBlanks(query, ['page']);
  query.delete('sort');
  includeInboxes(query);
}

function readContact(body: Json): Json {
  const given = leaveOut(body, ['', null], ['name', 'blocked', 'source_id', ...attributes]);
  return { ...unpack(leaveOut(given, ['', 0, null], ['inbox_id']), attributes), unique_addresses: true };
}

// Chatwoot requires no name: a contact without one is named after its address, number or identifier.
function readNewContact(body: Json): Json {
  const given = readContact(body);
  const { email, phone_number: phone, identifier } = given;
  const name = [email, phone, identifier].find((known) => typeof known === 'string' && known !== '');
  return { ...(name === undefined ? {} : { name }), ...given };
}

function theirPage({ payload, meta }: Json): Json {
  const { current_page: page, total_pages: total } = objectOf(meta);
  const hasMore = Number(page) < Number(total);
  return { meta: { ...objectOf(meta), has_more: hasMore }, payload: listOf(payload).map(theirContact) };
}

async function withInboxes(contact: Json, { account, ask }: Asked): Promise<Json> {
  const { status, body } = await ask('GET', `${account}/contacts/${String(contact['id'])}/contact_inboxes`);
  const places = status === 200 ? { contact_inboxes: objectOf(body)['payload'] } : {};
  return theirContact({ ...contact, ...places });
}

async function theirSingle({ payload }: Json, asked: Asked): Promise<Json> {
  return { payload: await withInboxes(objectOf(payload), asked) };
}

async function theirNew({ payload }: Json, asked: Asked): Promise<Json> {
  const { contact, contact_inbox: place } = objectOf(payload);
  return {
    payload: {
      contact: await withInboxes(objectOf(contact), asked),
      contact_inbox: place ? theirPlace(objectOf(place)) : { inbox: null, source_id: null },
    },
  };
}

// Integrations pass the source id on to `POST conversations`, where it becomes the contact's: it admits nobody.
function theirContactable({ payload }: Json, { uuid }: Asked): Json {
  const places = listOf(payload).map((place) => ({ ...place, source_id: place['source_id'] ?? uuid() }));
  return { payload: theirPlaces(places) };
}

const [activeMs, perPage, mostActivePages] = [300_000, 15, 40];

// Chatwoot lists contacts who are connected. Presence is unknown here, so recent activity stands for it.
async function theirActive(_: unknown, { account, query, ask, now }: Asked): Promise<Json> {
  const since = (now().getTime() - activeMs) / 1000;
  const page = Math.max(1, Number(query.get('page')) || 1);
  const active: Json[] = [];
  for (let read = 1; read <= mostActivePages; read += 1) {
    const path = `${account}/contacts?sort=last_activity_at&include_contact_inboxes=true&page=${read}`;
    const contacts = listOf(needed(await ask('GET', path))['payload']);
    active.push(...contacts.filter(({ last_activity_at: at }) => typeof at === 'number' && at >= since));
    if (active.length < read * perPage) break;
  }
  const shown = active.slice((page - 1) * perPage, page * perPage);
  const meta = { count: active.length, current_page: page, has_more: active.length > page * perPage };
  return { meta, payload: shown.map(theirContact) };
}

/** Operations on contacts, their notes and their inboxes. */
export const contactOperations: readonly Operation[] = [
  { method: 'GET', path: base, query: readList, answer: theirPage },
  { method: 'GET', path: `${base}/search`, query: readSearch, answer: theirPage },
  { method: 'POST', path: `${base}/filter`, query: readSearch, body: readConditions, answer: theirPage },
  { method: 'GET', path: `${base}/active`, instead: `${base}?sort=last_activity_at`, answer: theirActive },
  { method: 'GET', path: `${base}/:id`, answer: theirSingle, untagged: true },
  { method: 'POST', path: base, wrapper: 'contact', body: readNewContact, answer: theirNew },
  { method: 'PATCH', path: `${base}/:id`, wrapper: 'contact', body: readContact, answer: theirSingle },
  { method: 'GET', path: `${base}/:id/notes`, answer: restOf },
  {
    method: 'GET',
    path: `${base}/:id/contact_inboxes`,
    answer: ({ payload }: Json) => ({ payload: theirPlaces(payload) }),
  },
  {
    method: 'POST',
    path: `${base}/:id/contact_inboxes`,
    body: (body) => leaveOut(body, ['', null], ['source_id']),
    answer: theirPlace,
  },
  { method: 'GET', path: `${base}/:id/contactable_inboxes`, answer: theirContactable, untagged: true },
  { method: 'POST', path: `${accounts}/actions/contact_merge`, answer: theirContact },
];
