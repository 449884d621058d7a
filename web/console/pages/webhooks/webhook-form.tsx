import type { Body } from '../../../shared/call.ts';
import { CheckField, ChoiceField } from '../../kit/form.tsx';
import { FormatField } from '../../kit/format-field.tsx';
import { useLoad } from '../../kit/load.tsx';
import type { RecordForm } from '../../kit/record-form.tsx';
import { call } from '../../session.ts';
import { AuthField, authDraftOf, authOf, HeadersField, type AuthDraft } from './credentials.tsx';
import { filterDraftOf, FilterField, filterOf, type FilterDraft } from './event-filter.tsx';
import { nameOf, webhookEvents, type Webhook } from './states.tsx';

type Draft = Pick<Webhook, 'url' | 'inbox_id' | 'active' | 'format'> & {
  name: string;
  subscriptions: readonly string[];
  filter: FilterDraft;
  headers: Webhook['headers'];
  auth: AuthDraft;
  max_per_second: string;
};

/** The form of a webhook. `created` gets the signing secret of a new one. */
export function webhookForm(created: (secret: string) => void): RecordForm<Webhook, Draft> {
  return {
    noun: 'webhook',
    nameOf,
    fresh: {
      url: '',
      name: '',
      subscriptions: ['message_created', 'conversation_created', 'conversation_status_changed'],
      inbox_id: null,
      active: true,
      format: 'default',
      filter: filterDraftOf(null),
      headers: [],
      auth: authDraftOf(null),
      max_per_second: '',
    },
    unkept: ['headers', 'auth'],
    draftOf: ({ url, name, subscriptions, inbox_id, active, format, ...webhook }) => ({
      url,
      name: name ?? '',
      subscriptions,
      inbox_id,
      active,
      format,
      filter: filterDraftOf(webhook.filter),
      headers: webhook.headers,
      auth: authDraftOf(webhook.auth_type),
      max_per_second: String(webhook.max_per_second ?? ''),
    }),
    fields: (_, webhook) => [
      { name: 'url', label: 'URL', type: 'url', required: true },
      { name: 'name', label: 'Name', hint: 'Optional.' },
      {
        name: 'subscriptions',
        label: 'Subscribed events',
        control: ({ draft, set, problem }) => (
          <Subscriptions
            chosen={draft.subscriptions}
            choose={(subscriptions) => set({ subscriptions })}
            problem={problem}
          />
        ),
      },
      {
        name: 'inbox_id',
        label: 'Inbox',
        control: ({ draft, set, problem }) => (
          <InboxField value={draft.inbox_id} onChange={(id) => set({ inbox_id: id })} problem={problem} />
        ),
      },
      {
        name: 'filter',
        label: 'Filter',
        control: ({ draft, set, problem }) => (
          <FilterField value={draft.filter} onChange={(filter) => set({ filter })} problem={problem} />
        ),
      },
      {
        name: 'headers',
        label: 'Headers',
        control: ({ draft, set, problem }) => (
          <HeadersField value={draft.headers} onChange={(headers) => set({ headers })} problem={problem} />
        ),
      },
      {
        name: 'auth',
        label: 'Authentication',
        control: ({ draft, set, problem }) => (
          <AuthField
            stored={webhook?.auth_type ?? null}
            value={draft.auth}
            onChange={(auth) => set({ auth })}
            problem={problem}
          />
        ),
      },
      {
        name: 'max_per_second',
        label: 'Rate limit',
        hint: 'Deliveries per second, 1 to 1,000. Empty for no limit.',
        type: 'number',
      },
      {
        name: 'format',
        label: 'Format',
        control: ({ draft, set, problem }) => (
          <FormatField value={draft.format} onChange={(format) => set({ format })} problem={problem} />
        ),
      },
      { name: 'active', label: 'Active', type: 'check' },
    ],
    save: (draft, webhook) => save(draft, webhook, created),
  };
}

/** The question before a webhook is deleted. */
export function deletionQuestion(name: string): string {
  return `Pending deliveries to “${name}” are cancelled. Past deliveries stay in the log.`;
}

async function save(
  { active, filter, auth, max_per_second: rate, ...draft }: Draft,
  webhook: Webhook | null,
  created: (secret: string) => void,
): Promise<void> {
  const body = {
    ...draft,
    name: draft.name || null,
    subscriptions: [...draft.subscriptions] as Body<'POST webhooks'>['subscriptions'],
    filter: filterOf(filter) ?? null,
    max_per_second: rate === '' ? null : Number(rate),
    ...withAuth(authOf(auth)),
    // The service may have disabled it while the dialog was open.
    ...(webhook && active === webhook.active ? {} : { active }),
  };
  if (webhook) await call('PATCH webhooks/:id', { id: webhook.id, body });
  else created((await call('POST webhooks', { body })).secret);
}

function withAuth(auth: ReturnType<typeof authOf>) {
  return auth === undefined ? {} : { auth };
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
      <legend>Subscribed events</legend>
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
      hint="Only events of this inbox."
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
