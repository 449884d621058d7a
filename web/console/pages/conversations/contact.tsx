import type { ComponentChildren } from 'preact';
import type { Reply } from '../../../shared/call.ts';
import { Facts } from '../../kit/facts.tsx';
import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { SavedChoice } from '../../kit/saved-choice.tsx';
import { Time } from '../../kit/time.tsx';
import { call } from '../../session.ts';
import { attributeFacts, visitorFacts, type Definition } from './attributes.tsx';
import { OtherConversations } from './other-conversations.tsx';
import { nameOf, type Conversation } from './words.tsx';

type Contact = Reply<'GET contacts/:id'>;

const priorities = ['urgent', 'high', 'medium', 'low'] as const;

interface Props {
  conversation: Conversation;
  changed: (conversation: Conversation) => void;
}

interface PanelProps extends Props {
  /** Definitions of custom attributes. */
  definitions: readonly Definition[];
}

/** Contact of a conversation, their other conversations, and the priority. */
export function ContactPanel({ conversation, changed, definitions }: PanelProps) {
  const { id, contact, inbox_id: inboxId } = conversation;
  const loaded = useLoad(
    async (signal) => {
      const [about, inbox] = await Promise.all([
        call('GET contacts/:id', { id: contact.id, signal }),
        readInbox(inboxId, signal),
      ]);
      return { about, inbox };
    },
    [contact.id, inboxId],
  );
  useReloadOn(({ event, payload }) => event === 'contact_updated' && payload?.['id'] === contact.id, loaded.reload);
  return (
    <section class="panel" aria-labelledby="customer">
      <h2 id="customer">Contact</h2>
      <Show of={loaded}>
        {({ about, inbox }) => (
          <>
            <Facts facts={factsOf(about, { inbox, definitions })} />
            <OtherConversations contactId={contact.id} conversationId={id} />
          </>
        )}
      </Show>
      <Priority conversation={conversation} changed={changed} />
    </section>
  );
}

// Agents see conversations of their teams also in inboxes that they do not belong to.
async function readInbox(id: number, signal: AbortSignal): Promise<{ id: number; name: string } | null> {
  const { payload } = await call('GET inboxes', { signal });
  return payload.find((inbox) => inbox.id === id) ?? null;
}

function factsOf(
  contact: Contact,
  { inbox, definitions }: { inbox: { id: number; name: string } | null; definitions: readonly Definition[] },
): (readonly [string, ComponentChildren])[] {
  const { email, phone_number: phone, identifier, blocked, created_at: since, last_activity_at: active } = contact;
  return [
    [
      'Name',
      <a key="name" href={`/console/contacts/${contact.id}`}>
        {nameOf(contact)}
      </a>,
    ],
    ['Email', email],
    ['Phone', phone],
    ['Identifier', identifier],
    ['Blocked', blocked ? 'Yes' : null],
    ...attributeFacts(contact.custom_attributes, definitions, 'contact_attribute'),
    ...visitorFacts(contact.visitor_attributes, definitions),
    ['Last activity', active === null ? null : <Time key="active" at={active} />],
    ['Created', <Time key="since" at={since} />],
    ['Inbox', inbox && <a href={`/console/settings/inboxes/${inbox.id}`}>{inbox.name}</a>],
  ];
}

function Priority({ conversation: { id, priority }, changed }: Props) {
  return (
    <SavedChoice<NonNullable<typeof priority> | ''>
      label="Priority"
      value={priority ?? ''}
      save={async (value) =>
        changed(await call('PATCH conversations/:id', { id, body: { priority: value === '' ? null : value } }))
      }
      options={[['', 'None'], ...priorities.map((one) => [one, one] as const)]}
    />
  );
}
