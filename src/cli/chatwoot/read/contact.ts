import type { ForeignContact } from '../../../domain/imports/contacts.ts';
import { findProblems } from '../../../schemas.ts';
import type { Ids } from '../copying.ts';
import { isEmail, mostName, plainChannel } from './settings.ts';
import { idOf, isLonger, pastOf, pastOrNull, readAttributes, recordOf, textOf, type Foreign } from '../values.ts';

/** A contact that can be stored, and sentences about values that were changed for it. */
export interface ReadContact {
  contact: ForeignContact;
  problems: string[];
}

/** Context for reading a contact. */
export interface ContactReading {
  now: Date;
  inboxes: Ids;
  labels: readonly string[];
  /** Whether the only random identifier of a contact in an inbox lets its holder in. */
  admitsClients: boolean;
}

/** Reads a contact; null without an id. Values that the service does not accept are stored among its additional attributes. */
export function toContact(given: Foreign, { now, inboxes, labels, admitsClients }: ContactReading): ReadContact | null {
  const foreignId = idOf(given['id']);
  if (foreignId === null) return null;
  const problems: string[] = [];
  const put: Record<string, unknown> = { chatwoot_id: foreignId };
  const email = checked(given, 'email', { is: isEmail, problems, put });
  const phoneNumber = checked(given, 'phone_number', { is: isPhoneNumber, problems, put });
  const identifier = checked(given, 'identifier', { is: () => true, problems, put });
  for (const field of ['name', 'identifier']) if (isLonger(given[field], mostName)) problems.push(`${field} was cut`);
  const createdAt = pastOf(given['created_at'], now, now);
  return {
    problems,
    contact: {
      foreignId,
      contact: {
        name: textOf(given['name'], mostName) ?? email ?? phoneNumber ?? identifier ?? 'Unknown',
        email,
        phoneNumber,
        identifier,
        blocked: given['blocked'] === true,
        avatarUrl: pictureOf(given),
        customAttributes: readAttributes(given, 'custom_attributes', problems),
        additionalAttributes: { ...readAttributes(given, 'additional_attributes', problems), ...put },
      },
      lastActivityAt: pastOrNull(given['last_activity_at'], now),
      createdAt,
      sources: sourcesOf(given['contact_inboxes'], { inboxes, admitsClients }),
      labels,
    },
  };
}

// The link alone, which ends with the Chatwoot server.
function pictureOf({ thumbnail }: Foreign): string | null {
  const url = isLonger(thumbnail, mostUrl) ? null : textOf(thumbnail, mostUrl);
  return url !== null && findProblems('requests/contact.update', { avatar_url: url }).length === 0 ? url : null;
}

function isPhoneNumber(phone: string): boolean {
  return findProblems('requests/contact.update', { phone_number: phone }).length === 0;
}

function checked(
  given: Foreign,
  field: 'email' | 'phone_number' | 'identifier',
  { is, problems, put }: { is: (text: string) => boolean; problems: string[]; put: Record<string, unknown> },
): string | null {
  const text = textOf(given[field], mostName);
  if (text === null || is(text)) return text;
  put[`chatwoot_${field}`] = text;
  problems.push(`${field} is not valid here, and was kept as the additional attribute chatwoot_${field}`);
  return null;
}

const [mostSources, mostUrl] = [100, 2048];
const randomId = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Returns the contact's identifiers in inboxes that were copied. In Chatwoot an identifier leads to its own conversations
 * alone, and a visitor who names a customer's address gets another identifier for that customer. Here each would lead to all
 * conversations of the contact, so none of several admits its holder.
 */
function sourcesOf(
  value: unknown,
  { inboxes, admitsClients }: Pick<ContactReading, 'inboxes' | 'admitsClients'>,
): ForeignContact['sources'] {
  const all = Array.isArray(value) ? value.map(recordOf) : [];
  const inboxOf = ({ inbox }: Foreign) => idOf(recordOf(inbox)['id']) ?? 0;
  return all.slice(0, mostSources).flatMap((given) => {
    const { source_id: source, inbox } = given;
    const inboxId = inboxes.get(inboxOf(given));
    const sourceId = isLonger(source, mostName) ? null : textOf(source, mostName);
    if (inboxId === undefined || sourceId === null) return [];
    const isOnly = all.filter((other) => inboxOf(other) === inboxOf(given)).length === 1;
    const isKey = recordOf(inbox)['channel_type'] === plainChannel && randomId.test(sourceId);
    return [{ inboxId, sourceId, admits: admitsClients && isOnly && isKey }];
  });
}
