import type { ComponentChildren } from 'preact';
import type { Reply } from '../../../shared/call.ts';
import { sentenceOf } from '../../../shared/service-error.ts';
import { Facts } from '../../kit/facts.tsx';
import { ChoiceField } from '../../kit/form.tsx';
import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { Time } from '../../kit/time.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import { StatusBadge, nameOf, type Conversation } from './words.tsx';

type Contact = Reply<'GET contacts/:id'>;

const priorities = ['urgent', 'high', 'medium', 'low'] as const;

interface Props {
  conversation: Conversation;
  changed: (conversation: Conversation) => void;
}

/** Who the customer is, what else was said with them, and how urgent this is. */
export function ContactPanel({ conversation, changed }: Props) {
  const { id, contact, inbox_id: inboxId } = conversation;
  const loaded = useLoad(
    async (signal) => {
      const [about, { payload: conversations }, inbox] = await Promise.all([
        call('GET contacts/:id', { id: contact.id, signal }),
        call('GET contacts/:id/conversations', { id: contact.id, signal }),
        readInbox(inboxId, signal),
      ]);
      return { about, inbox, others: conversations.filter((other) => other.id !== id) };
    },
    [contact.id, inboxId],
  );
  useReloadOn(({ event, payload }) => event === 'contact_updated' && payload?.['id'] === contact.id, loaded.reload);
  return (
    <section class="panel" aria-labelledby="customer">
      <h2 id="customer">Customer</h2>
      <Show of={loaded}>
        {({ about, inbox, others }) => (
          <>
            <Facts facts={factsOf(about, inbox)} />
            {others.length > 0 && <Others conversations={others} />}
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
  inbox: { id: number; name: string } | null,
): (readonly [string, ComponentChildren])[] {
  const { email, phone_number: phone, identifier, blocked, created_at: since, last_activity_at: active } = contact;
  return [
    ['Name', nameOf(contact)],
    ['E-mail', email],
    ['Telephone', phone],
    ['Identifier', identifier],
    ['Blocked', blocked ? 'Yes' : null],
    ...attributesOf(contact.custom_attributes),
    ...attributesOf(contact.visitor_attributes, ' (they say)'),
    ['Active', active === null ? null : <Time key="active" at={active} />],
    ['Customer since', <Time key="since" at={since} />],
    ['Inbox', inbox && <a href={`/console/settings/inboxes/${inbox.id}`}>{inbox.name}</a>],
  ];
}

function attributesOf(attributes: Readonly<Record<string, unknown>>, mark = ''): (readonly [string, string])[] {
  return Object.entries(attributes).map(([name, value]) => [
    name + mark,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
}

function Others({ conversations }: { conversations: readonly Conversation[] }) {
  return (
    <>
      <h3>Other conversations</h3>
      <ul>
        {conversations.map((other) => (
          <li key={other.id}>
            <a href={`/console/conversations/${other.id}`}>Conversation {other.id}</a> <StatusBadge of={other} />{' '}
            <Time at={other.last_activity_at} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Priority({ conversation: { id, priority }, changed }: Props) {
  async function choose(value: string): Promise<void> {
    try {
      const chosen = priorities.find((one) => one === value) ?? null;
      changed(await call('PATCH conversations/:id', { id, body: { priority: chosen } }));
    } catch (error) {
      toast(sentenceOf(error), 'error');
    }
  }
  return (
    <ChoiceField
      label="Priority"
      value={priority ?? ''}
      onChange={(value) => void choose(value)}
      options={[['', 'None'], ...priorities.map((one) => [one, one] as const)]}
    />
  );
}
