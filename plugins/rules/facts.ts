import type { AutomationContext } from 'switchboard/bot';
import type { Facts } from './conditions.ts';

/** The attributes that conditions may name: of the conversation as it is now, the message and the contact. */
export async function factsOf(ctx: AutomationContext<unknown>): Promise<Facts> {
  const now = await ctx.current();
  const conversation = now.conversation ?? {};
  const contact = (now.contact ?? contactHeard(ctx)) as Record<string, unknown>;
  const meta = (conversation['meta'] ?? {}) as Record<string, { id?: number } | null>;
  const ofContact = Object.entries({ ...(contact['custom_attributes'] as object), ...contact });
  return {
    ...(conversation['custom_attributes'] as object),
    id: conversation['id'],
    display_id: conversation['id'],
    status: conversation['status'],
    priority: conversation['priority'],
    assignee_id: meta['assignee']?.id,
    team_id: meta['team']?.id,
    inbox_id: conversation['inbox_id'] ?? ctx.inbox?.id,
    contact_id: contact['id'],
    source_id: conversation['source_id'],
    labels: conversation['labels'],
    hours: now.hours,
    ...(ctx.message ? ofMessage(ctx.message as unknown as Record<string, unknown>) : {}),
    ...Object.fromEntries(ofContact.map(([name, value]) => [`contact.${name}`, value])),
  };
}

// The contact of the event, where it is gone by now.
function contactHeard(ctx: AutomationContext<unknown>): Record<string, unknown> {
  return {
    id: ctx.contact?.id,
    name: ctx.contact?.name,
    email: ctx.contact?.email,
    phone_number: ctx.contact?.phone_number,
    identifier: ctx.contact?.identifier,
    custom_attributes: ctx.contact?.custom_attributes,
  };
}

function ofMessage(message: Record<string, unknown>): Facts {
  const { content, message_type, private: isPrivate, content_type } = message;
  return { content, message_type, private: isPrivate, content_type };
}
