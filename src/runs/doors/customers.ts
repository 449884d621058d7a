import {
  findKnownContact,
  findOrCreateContact,
  type ContactMarks,
  type FoundContact,
} from '../../domain/contacts/find-or-create.ts';
import { findInPlace, openInPlace, type ActingIn } from '../../domain/conversations/of-place.ts';
import { noteContact, noteConversations } from '../../domain/upkeep/hook-subjects.ts';
import { ApiError } from '../../errors.ts';
import { transact, type Actor } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import { findProblems, type SchemaName, type Shape } from '../../schemas.ts';
import { ForbiddenCall, type HostCall, type Permissions } from '../../sandbox/run.ts';
import { DoorError, UnavailableError } from './errors.ts';

/** Contacts and conversations for plugins: what they find or begin is committed at once, and found again by a repeated run. */
export interface CustomerPorts {
  database: Database;
}

/** The author of what a run does, and where it may. */
export interface Author {
  actor: Actor;
  acting: ActingIn;
  /** The request of a hook that it handles; null for another event. */
  requestId: number | null;
}

interface Visit {
  account: { id: number; name: string };
  permissions: Permissions;
  /** Null for a run within a conversation, which has its contact. */
  author: Author | null;
}

type PermissionName = 'contacts' | 'conversations';
type Work<Name extends SchemaName> = (input: Shape<Name>, author: Author, database: Database) => Promise<unknown>;

/** The calls behind `ctx.contacts` and `ctx.conversations`. */
export function customerDoors(visit: Visit, ports: CustomerPorts | undefined): Readonly<Record<string, HostCall>> {
  const { account, permissions, author } = visit;
  const door =
    <Name extends SchemaName>(permission: PermissionName, schema: Name, work: Work<Name>, needs = 'write'): HostCall =>
    async (input) => {
      const granted = permissions[permission];
      if (granted !== 'write' && granted !== needs) throw new ForbiddenCall(lackOf(permission, needs));
      if (!author || !ports) throw new UnavailableError(permission);
      const [problem] = findProblems(schema, input);
      if (problem) throw new DoorError('invalid_input', problem.message);
      return work(input as Shape<Name>, author, ports.database).catch(toDoorError);
    };
  return {
    'contacts.find': door(
      'contacts',
      'runtime/find-contact',
      async (input, { actor, requestId }, database) => {
        // Erased with the request: what other runs record of a contact could not be found again.
        if (requestId === null) throw new UnavailableError('contacts');
        return transact(database, { account, actor }, async (tx) => {
          const found = await findKnownContact(tx, marksOf(input));
          if (found) await noteContact(tx, requestId, found.id);
          return found && shownContact(found, permissions);
        });
      },
      'read',
    ),
    'contacts.findOrCreate': door(
      'contacts',
      'runtime/find-or-create-contact',
      async (input, { actor, requestId }, database) => {
        const known = {
          ...marksOf(input),
          name: input.name ?? null,
          customAttributes: input.custom_attributes ?? {},
        };
        return transact(database, { account, actor }, async (tx) => {
          const { id } = await findOrCreateContact(tx, known);
          if (requestId !== null) await noteContact(tx, requestId, id);
          return { id };
        });
      },
    ),
    'conversations.open': door('conversations', 'runtime/contact-place', async (input, by, database) => {
      const { actor, acting, requestId } = by;
      const place = { contactId: input.contact_id, inboxId: input.inbox_id };
      return transact(database, { account, actor }, async (tx) => {
        const found = await openInPlace(tx, acting, place);
        if (requestId !== null) await noteConversations(tx, requestId, [found.id]);
        return found;
      });
    }),
    'conversations.find': door('conversations', 'runtime/contact-place', async (input, { acting }, database) => {
      const place = { contactId: input.contact_id, inboxId: input.inbox_id, status: input.status ?? null };
      return findInPlace(database.sql, { accountId: account.id, acting }, place);
    }),
  };
}

function lackOf(permission: PermissionName, needs: string): string {
  const asked =
    permission === 'contacts'
      ? `\`"contacts": "${needs}"\` in \`permissions.contacts\``
      : `\`permissions.${permission}\``;
  return `The manifest does not ask for ${asked}`;
}

function marksOf(input: Shape<'runtime/find-contact'>): ContactMarks {
  return {
    identifier: input.identifier ?? null,
    email: input.email ?? null,
    phoneNumber: input.phone_number ?? null,
  };
}

// The fields of a contact are granted one by one.
function shownContact(found: FoundContact, { contact: granted }: Permissions): Record<string, unknown> {
  const { id, name, email, phoneNumber, identifier, customAttributes, visitorAttributes } = found;
  const fields = {
    name,
    email,
    phone_number: phoneNumber,
    identifier,
    custom_attributes: customAttributes,
    visitor_attributes: visitorAttributes,
  };
  return { id, ...Object.fromEntries(granted.map((field) => [field, fields[field]])) };
}

function toDoorError(error: unknown): never {
  throw error instanceof ApiError ? new DoorError(error.code, error.message) : error;
}
