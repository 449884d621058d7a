import type { Reply } from '../../../shared/call.ts';
import { CrudPage } from '../../kit/crud-page.tsx';
import { pageOf } from '../../kit/pages.tsx';
import type { RecordForm } from '../../kit/record-form.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call, isAdministrator } from '../../session.ts';

type Policy = Reply<'GET sla_policies'>['payload'][number];

/** Times are in minutes, as they are entered; empty for none. */
interface Draft {
  name: string;
  first_response_seconds: string;
  resolution_seconds: string;
}

const hint = 'From the start of the conversation. Leave empty for no target.';

const form: RecordForm<Policy, Draft> = {
  noun: 'policy',
  nameOf: ({ name }) => name,
  fresh: { name: '', first_response_seconds: '', resolution_seconds: '' },
  draftOf: (policy) => ({
    name: policy.name,
    first_response_seconds: minutesOf(policy.first_response_seconds),
    resolution_seconds: minutesOf(policy.resolution_seconds),
  }),
  fields: () => [
    { name: 'name', label: 'Name', required: true },
    { name: 'first_response_seconds', label: 'First response (minutes)', type: 'number', hint },
    { name: 'resolution_seconds', label: 'Resolution (minutes)', type: 'number', hint },
  ],
  save: ({ name, first_response_seconds: reply, resolution_seconds: resolution }, policy) => {
    const body = { name, first_response_seconds: secondsOf(reply), resolution_seconds: secondsOf(resolution) };
    return policy ? call('PATCH sla_policies/:id', { id: policy.id, body }) : call('POST sla_policies', { body });
  },
};

/** The SLA policies of the account: how long customers wait at most. */
export function SlaPoliciesPage({ query }: ViewProps) {
  const page = pageOf(query);
  return (
    <CrudPage
      title="SLA policies"
      caption="SLA policies by name"
      inputs={[page]}
      load={(signal) => call('GET sla_policies', { query: { page }, signal })}
      form={form}
      empty={
        <p>
          No SLA policies yet. {isAdministrator() ? 'Create one' : 'Administrators create them'} to notify webhooks when
          a customer waits too long.
        </p>
      }
      columns={[
        { title: 'Name', kind: 'text', cell: ({ name }) => name },
        { title: 'First response', kind: 'fit', cell: (policy) => inWords(policy.first_response_seconds) },
        { title: 'Resolution', kind: 'fit', cell: (policy) => inWords(policy.resolution_seconds) },
      ]}
      remove={{
        question: (name) => `Conversations with “${name}” have no SLA any more.`,
        done: (name) => `Policy “${name}” deleted.`,
        act: ({ id }) => call('DELETE sla_policies/:id', { id }),
      }}
    />
  );
}

const secondsPerMinute = 60;

function minutesOf(seconds: number | null): string {
  return seconds === null ? '' : String(seconds / secondsPerMinute);
}

function secondsOf(minutes: string): number | null {
  return minutes.trim() === '' ? null : Math.round(Number(minutes) * secondsPerMinute);
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

// The largest unit of which it is a whole number.
function inWords(seconds: number | null): string {
  if (seconds === null) return '–';
  const [unit, length] = units.find(([, one]) => seconds % one === 0) ?? ['second', 1];
  const count = seconds / length;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
