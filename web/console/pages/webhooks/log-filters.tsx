import type { Body, Query } from '../../../shared/call.ts';
import { IdField, MomentField, numberIn, TextField } from '../../kit/filter-fields.tsx';
import { ChoiceField } from '../../kit/form.tsx';
import { setQuery } from '../../router.ts';
import { deliveredEvents, errorClasses, errorInWords, states } from './states.tsx';

/** Names of the filters in the address, which are those of the service. */
export const filterNames = [
  'state',
  'event',
  'status_code',
  'error_class',
  'q',
  'conversation_id',
  'since',
  'until',
] as const;

const numbers: readonly string[] = ['status_code', 'conversation_id', 'since', 'until'];

/** The filters that are set, for a query and for a body; what is invalid the service refuses. */
export interface LogFilter {
  query: Partial<Query<'GET webhooks/:id/deliveries/count'>>;
  body: NonNullable<Body<'POST webhooks/:id/deliveries/bulk'>['filter']>;
  isEmpty: boolean;
}

/** The filters that the query of the address sets. */
export function filterIn(query: URLSearchParams): LogFilter {
  const set = filterNames.flatMap((name) => {
    const text = query.get(name);
    return text === null ? [] : [[name, text] as const];
  });
  const values = set.map(([name, text]) => [name, numbers.includes(name) ? Number(text) : text] as const);
  return {
    query: Object.fromEntries(set),
    body: Object.fromEntries(values),
    isEmpty: set.length === 0,
  };
}

/** The filters of a log of deliveries, which are kept in the address. */
export function LogFilters({ query }: { query: URLSearchParams }) {
  return (
    <search class="filters">
      <ChoiceField
        label="State"
        value={query.get('state') ?? ''}
        onChange={(state) => setQuery({ state })}
        options={[['', 'All'], ...states.map((state) => [state, state] as const)]}
      />
      <ChoiceField
        label="Event"
        value={query.get('event') ?? ''}
        onChange={(event) => setQuery({ event })}
        options={[['', 'All'], ...deliveredEvents.map((event) => [event, event] as const)]}
      />
      <IdField
        label="Status code"
        value={query.get('status_code')}
        onChange={(status) => setQuery({ status_code: status })}
      />
      <ChoiceField
        label="Error"
        value={query.get('error_class') ?? ''}
        onChange={(error) => setQuery({ error_class: error })}
        options={[['', 'All'], ...errorClasses.map((error) => [error, errorInWords(error)] as const)]}
      />
      <TextField label="Response contains" value={query.get('q')} onChange={(q) => setQuery({ q })} />
      <IdField
        label="Conversation"
        value={query.get('conversation_id')}
        onChange={(id) => setQuery({ conversation_id: id })}
      />
      <MomentField label="Since" value={numberIn(query, 'since')} onChange={(since) => setQuery({ since })} />
      <MomentField label="Until" value={numberIn(query, 'until')} onChange={(until) => setQuery({ until })} />
    </search>
  );
}
