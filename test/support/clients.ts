import type { Answer } from './app.ts';
import type { Maker } from './maker.ts';
import type { Request } from './operations.ts';

/** A client of an inbox of the API, by whose `source` it comes in; `message` asks it for a choice. */
export interface ClientOf {
  identifier: string;
  source: string;
  contactId: number;
  conversation: number;
  message: number;
}

/** Lets a client in, which begins a conversation. */
export async function makeClient(maker: Maker, inboxId: number): Promise<ClientOf> {
  const { identifier } = await maker.call('GET', `inboxes/${inboxId}`);
  const profile = { name: maker.text('client') };
  const { body: contact } = await callClient(maker, ['POST', identifier, 'contacts'], profile);
  const source: string = contact.source_id;
  const begin = ['POST', identifier, `contacts/${source}/conversations`] as const;
  const conversation: number = (await callClient(maker, begin, {})).body.id;
  const message = await maker.message(conversation, {
    message_type: 'outgoing',
    content_type: 'input_select',
    content_attributes: {
      items: [
        { title: 'Yes', value: 'yes' },
        { title: 'No', value: 'no' },
      ],
    },
  });
  return { identifier, source, contactId: contact.id, conversation, message };
}

/** The path parameters of a request of the client. */
export function atClient({ identifier, source }: ClientOf): NonNullable<Request['at']> {
  return { identifier, contact_identifier: source };
}

const contacts = '/public/api/v1/inboxes/:identifier/contacts';
const client = `${contacts}/:contact_identifier`;
const own = `${client}/conversations/:conversation_id`;
const everybody = (status: number): string => Array.from({ length: 13 }, () => status).join(' ');
const others = '404 404 404  401 401 401 401';
const agents = (status: number): string => `${status} ${status} ${status} ${status} 403 403 ${others}`;

/**
 * Who gets which status from the operations of clients, and of contacts in inboxes (see matrix.test.ts). Whoever knows the
 * `source_id` in the path is the contact.
 */
export const clientMatrix: Readonly<Record<string, string>> = {
  'POST contacts#nowhere': agents(201),
  'GET contacts/:id/contact_inboxes': agents(200),
  'POST contacts/:id/contact_inboxes': `201 201 403 403 403 403 ${others}`,
  'GET contacts/:id/contactable_inboxes': agents(200),
  'POST actions/contact_merge': agents(200),
  [`POST ${contacts}`]: everybody(201),
  [`GET ${client}`]: everybody(200),
  [`PATCH ${client}`]: everybody(200),
  [`GET ${client}/conversations`]: everybody(200),
  [`POST ${client}/conversations`]: everybody(201),
  [`GET ${own}`]: everybody(200),
  [`POST ${own}/toggle_status`]: everybody(200),
  [`POST ${own}/toggle_typing`]: everybody(200),
  [`POST ${own}/update_last_seen`]: everybody(200),
  [`GET ${own}/messages`]: everybody(200),
  [`POST ${own}/messages`]: everybody(201),
  [`PATCH ${own}/messages/:message_id`]: everybody(200),
};

// Calls the public API of an inbox: without an access token.
function callClient(
  maker: Maker,
  [method, identifier, path]: readonly [method: string, identifier: string, path: string],
  body?: object,
): Promise<Answer> {
  return maker.app.call(method, `/public/api/v1/inboxes/${identifier}/${path}`, body, { api_access_token: '' });
}
