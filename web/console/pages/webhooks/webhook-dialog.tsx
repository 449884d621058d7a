import { useState } from 'preact/hooks';
import type { Body } from '../../../shared/call.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { CheckField, ChoiceField, Form, TextField } from '../../kit/form.tsx';
import { FormatField } from '../../kit/format-field.tsx';
import { useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';
import { nameOf, webhookEvents, type Webhook } from './states.tsx';

interface Props {
  /** Null for a new one. */
  webhook: Webhook | null;
  close: () => void;
  /** Gets the secret of a new one. */
  saved: (secret: string | null) => void;
}

const fresh: Pick<Webhook, 'url' | 'name' | 'subscriptions' | 'inbox_id' | 'active' | 'format'> = {
  url: '',
  name: null,
  subscriptions: ['message_created', 'conversation_created', 'conversation_status_changed'],
  inbox_id: null,
  active: true,
  format: 'default',
};

/** Makes a webhook, or changes one. */
export function WebhookDialog({ webhook, close, saved }: Props) {
  const before = webhook ?? fresh;
  const [url, setUrl] = useState(before.url);
  const [name, setName] = useState(before.name ?? '');
  const [subscriptions, setSubscriptions] = useState<readonly string[]>(before.subscriptions);
  const [inbox, setInbox] = useState(before.inbox_id);
  const [isActive, setActive] = useState(before.active);
  const [format, setFormat] = useState(before.format);
  async function send(): Promise<void> {
    const body = {
      url,
      name: name === '' ? null : name,
      subscriptions: [...subscriptions] as Body<'POST webhooks'>['subscriptions'],
      inbox_id: inbox,
      format,
      // The service may have switched it off while the dialog was open.
      ...(isActive === before.active && webhook ? {} : { active: isActive }),
    };
    if (webhook) await call('PATCH webhooks/:id', { id: webhook.id, body });
    const made = webhook ? null : await call('POST webhooks', { body });
    saved(made?.secret ?? null);
  }
  return (
    <Dialog title={webhook ? `Webhook ${nameOf(webhook)}` : 'New webhook'} onClose={close}>
      <Form submit={webhook ? 'Save' : 'Create'} send={send}>
        {(problemOf) => (
          <>
            <TextField
              label="URL"
              type="url"
              hint="Events are posted there."
              required
              value={url}
              onChange={setUrl}
              problem={problemOf('url')}
            />
            <TextField
              label="Name"
              hint="How you call it; may be empty."
              value={name}
              onChange={setName}
              problem={problemOf('name')}
            />
            <Subscriptions chosen={subscriptions} choose={setSubscriptions} problem={problemOf('subscriptions')} />
            <InboxField value={inbox} onChange={setInbox} problem={problemOf('inbox_id')} />
            <FormatField value={format} onChange={setFormat} problem={problemOf('format')} />
            <CheckField label="Active" checked={isActive} onChange={setActive} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

interface SubscriptionsProps {
  chosen: readonly string[];
  choose: (events: readonly string[]) => void;
  problem: string | undefined;
}

function Subscriptions({ chosen, choose, problem }: SubscriptionsProps) {
  const set = (event: string, isWanted: boolean): void =>
    choose(webhookEvents.filter((one) => (one === event ? isWanted : chosen.includes(one))));
  const hasAll = webhookEvents.every((one) => chosen.includes(one));
  return (
    <fieldset>
      <legend>Events</legend>
      <button type="button" onClick={() => choose(hasAll ? [] : webhookEvents)}>
        {hasAll ? 'None' : 'All'}
      </button>
      <div class="events">
        {webhookEvents.map((event) => (
          <CheckField
            key={event}
            label={event}
            checked={chosen.includes(event)}
            onChange={(isWanted) => set(event, isWanted)}
          />
        ))}
      </div>
      {problem && <small class="problem">{problem}</small>}
    </fieldset>
  );
}

interface InboxProps {
  value: number | null;
  onChange: (id: number | null) => void;
  problem: string | undefined;
}

function InboxField({ value, onChange, problem }: InboxProps) {
  const inboxes = useLoad((signal) => call('GET inboxes', { signal }));
  const known = inboxes.value?.payload ?? [];
  const isUnknown = value !== null && !known.some(({ id }) => id === value);
  return (
    <ChoiceField
      label="Inbox"
      hint="Events of one inbox alone, or of the whole account."
      value={String(value ?? '')}
      onChange={(id) => onChange(id === '' ? null : Number(id))}
      problem={problem ?? inboxes.error ?? undefined}
      options={[
        ['', 'All inboxes'],
        ...(isUnknown ? [[String(value), `Inbox ${value}`] as const] : []),
        ...known.map(({ id, name }) => [String(id), name] as const),
      ]}
    />
  );
}
