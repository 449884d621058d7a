import './bots.css';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ChoiceField, TextField } from '../../kit/form.tsx';
import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { More, useParts } from '../../kit/more.tsx';
import { Page } from '../../kit/page.tsx';
import type { ViewProps } from '../../page-row.ts';
import { setQuery } from '../../router.ts';
import { call } from '../../session.ts';
import { loadAutomations, loadBots } from './bot-list.ts';
import { outcomeChoices } from './outcomes.tsx';
import { RunTable } from './run-table.tsx';

/** Runs of bots and automations, newest first, with filters. */
export function RunsPage({ query }: ViewProps) {
  const filter = filterOf(query);
  const runners = useLoad(async (signal) => {
    const [bots, automations] = await Promise.all([loadBots(signal), loadAutomations(signal)]);
    return { bots, automations };
  });
  const runs = useParts(
    (cursor, signal) =>
      call('GET runs', { query: { ...filter, ...(cursor ? { cursor } : {}) }, ...(signal ? { signal } : {}) }),
    [query.toString()],
  );
  const present = useRef(runs);
  present.current = runs;
  // A reload would throw people who loaded more rows back to the first ones.
  useReloadOn(
    () => true,
    async () => {
      const { value, reload } = present.current;
      if ((value?.payload.length ?? 0) <= onOnePage) await reload();
    },
  );
  const { bots = [], automations = [] } = runners.value ?? {};
  const names = new Map([...bots, ...automations].map(({ id, name }) => [id, name]));
  const isFiltered = query.toString() !== '';
  return (
    <Page title="Runs">
      <p>Events handled by bots and automations, with their calls, actions and logs.</p>
      <Filters query={query} names={[...names]} automations={new Set(automations.map(({ id }) => String(id)))} />
      <Show of={runs}>
        {({ payload }) => (
          <>
            <RunTable runs={payload} names={names} empty={<Nothing isFiltered={isFiltered} />} />
            <More of={runs} />
          </>
        )}
      </Show>
    </Page>
  );
}

const onOnePage = 25;

interface Filter {
  agent_bot_id?: number;
  automation_id?: number;
  conversation_id?: number;
  outcome?: string;
}

function filterOf(query: URLSearchParams): Filter {
  const [bot, automation, conversation, outcome] = ['agent_bot_id', 'automation_id', 'conversation_id', 'outcome'].map(
    (name) => query.get(name) ?? '',
  );
  return {
    ...(bot ? { agent_bot_id: Number(bot) } : automation ? { automation_id: Number(automation) } : {}),
    ...(conversation ? { conversation_id: Number(conversation) } : {}),
    ...(outcome ? { outcome } : {}),
  };
}

interface FiltersProps {
  query: URLSearchParams;
  names: readonly (readonly [number, string])[];
  /** Which of the names are those of automations. */
  automations: ReadonlySet<string>;
}

function Filters({ query, names, automations }: FiltersProps) {
  const conversation = query.get('conversation_id') ?? '';
  const [draft, setDraft] = useState(conversation);
  useLayoutEffect(() => setDraft(conversation), [conversation]);
  return (
    <search>
      <form
        class="filters"
        aria-label="Filters"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ conversation_id: draft.trim() });
        }}
      >
        <ChoiceField
          label="Bot or automation"
          value={query.get('agent_bot_id') ?? query.get('automation_id') ?? ''}
          onChange={(id) =>
            setQuery(
              automations.has(id)
                ? { agent_bot_id: null, automation_id: id }
                : { agent_bot_id: id, automation_id: null },
            )
          }
          options={[['', 'All'], ...names.map(([id, name]) => [String(id), name] as const)]}
        />
        <ChoiceField
          label="Outcome"
          value={query.get('outcome') ?? ''}
          onChange={(outcome) => setQuery({ outcome })}
          options={[['', 'Any outcome'], ...outcomeChoices]}
        />
        <TextField label="Conversation ID" type="number" value={draft} onChange={setDraft} />
        <div class="actions">
          <button type="submit">Filter</button>
          {query.toString() !== '' && (
            <button
              type="button"
              onClick={() =>
                setQuery({ agent_bot_id: null, automation_id: null, outcome: null, conversation_id: null })
              }
            >
              Clear filters
            </button>
          )}
        </div>
      </form>
    </search>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <p>No runs match these filters.</p>;
  return (
    <p>
      No runs yet. Create an AI or plugin bot in <a href="/console/bots">Bots</a>, select it in an{' '}
      <a href="/console/settings/inboxes">inbox</a>, then write a message there.
    </p>
  );
}
