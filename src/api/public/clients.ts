import { openClient, updateClient, type Client, type ClientProfile } from '../../domain/widget/clients.ts';
import { readContact } from '../../domain/contacts/contacts.ts';
import type { Visit } from '../../domain/widget/visits.ts';
import { notFound } from '../../errors.ts';
import { doors } from '../../http/route/admission/doors.ts';
import type { Shape } from '../../schemas.ts';
import { clientConversationRoutes } from './client-conversations.ts';
import { provenIdentifier } from './identity-proof.ts';

const base = '/public/api/v1/inboxes/:identifier/contacts';

function presentClient({ contact, sourceId }: Client): Shape<'resources/client-contact'> {
  const { id, name, email, phoneNumber, identifier } = contact;
  return {
    source_id: sourceId,
    id,
    name,
    email: email ?? null,
    phone_number: phoneNumber ?? null,
    identifier: identifier ?? null,
  };
}

function readProfile(body: Shape<'requests/client-contact.update'>): ClientProfile {
  return {
    name: body.name,
    email: body.email,
    phoneNumber: body.phone_number,
    avatarUrl: body.avatar_url,
    visitorAttributes: body.custom_attributes,
  };
}

// Both are present for a client that was admitted by a `source_id`.
function clientOf({ sourceId, contact }: Visit): { sourceId: string; contactId: number } {
  if (sourceId === null || !contact) throw notFound('Contact');
  return { sourceId, contactId: contact.id };
}

/** The public API for clients of inboxes of the API. */
export const clientRoutes = [
  doors.visitor(
    ['POST', base, 'Create the contact of a client'],
    {
      body: 'requests/client-contact.create',
      reply: 'resources/client-contact',
      role: 'newClient',
      status: 201,
      description:
        'The answer has the `source_id` by which the client reads and writes as the contact. A contact who is known by the given `source_id`, or by an `identifier` with its `identifier_hash`, is answered unchanged; an `identifier` without it is ignored.',
    },
    async ({ services, visit, body, transact, guess }) => {
      const claim = {
        sourceId: body.source_id ?? null,
        identifier: provenIdentifier(visit, body, services.secretBox),
        made: services.random.uuid(),
      };
      const open = () => transact((tx) => openClient(tx, visit, { claim, profile: readProfile(body) }));
      return presentClient(await (claim.sourceId === null ? open() : guess(open)));
    },
  ),
  doors.visitor(
    ['GET', `${base}/:contact_identifier`, 'Get the contact of a client'],
    { reply: 'resources/client-contact', record: true, role: 'client' },
    async ({ sql, account, actor, visit }) => {
      const { sourceId, contactId } = clientOf(visit);
      return presentClient({ contact: await readContact(sql, account.id, actor, contactId), sourceId });
    },
  ),
  doors.visitor(
    ['PATCH', `${base}/:contact_identifier`, 'Update the contact of a client'],
    {
      body: 'requests/client-contact.update',
      reply: 'resources/client-contact',
      role: 'client',
      errors: [403],
      description: 'A blocked contact gets 403 `contact_blocked`.',
    },
    async ({ visit, body, transact }) => {
      const contact = await transact((tx) => updateClient(tx, visit, readProfile(body)));
      return presentClient({ contact, sourceId: clientOf(visit).sourceId });
    },
  ),
  ...clientConversationRoutes,
];
