import type { ComponentChildren } from 'preact';
import type { Reply } from '../../../shared/call.ts';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Outcome } from './outcomes.tsx';
import { runnerOf } from './runner.ts';

/** A run, as the service answers it. */
export type Run = Reply<'GET runs/:id'>;

interface Props {
  runs: readonly Run[];
  /** The names of bots and automations, by their ids. */
  names: ReadonlyMap<number, string>;
  empty: ComponentChildren;
}

/** Runs, a line each. */
export function RunTable({ runs, names, empty }: Props) {
  return (
    <Table
      caption="Runs, newest first"
      rows={runs}
      keyOf={({ id }) => id}
      empty={empty}
      columns={[
        { title: 'Run', kind: 'fit', cell: ({ id }) => <a href={`/console/runs/${id}`}>Run {id}</a> },
        { title: 'Started', kind: 'fit', cell: ({ created_at: at }) => <Time at={at} /> },
        {
          title: 'Run by',
          kind: 'text',
          cell: (run) => {
            const { title, id, path } = runnerOf(run);
            const name = title === 'Inbox' ? undefined : names.get(id);
            return <a href={path}>{name ?? `${title} ${id}`}</a>;
          },
        },
        {
          title: 'Conversation',
          kind: 'fit',
          isExtra: true,
          cell: ({ conversation_id: id }) => (id === null ? '–' : <a href={`/console/conversations/${id}`}>{id}</a>),
        },
        { title: 'Event', kind: 'text', isExtra: true, cell: ({ event }) => <code>{event.name}</code> },
        { title: 'Outcome', kind: 'fit', cell: ({ outcome }) => <Outcome name={outcome} /> },
        { title: 'Result', kind: 'text', cell: (run) => deedsOf(run) },
        { title: 'Duration', kind: 'fit', isExtra: true, cell: ({ wall_ms: ms }) => `${ms} ms` },
      ]}
    />
  );
}

function deedsOf({ actions, error, erased_at: erasedAt }: Run): string {
  if (erasedAt !== null) return 'Erased with a message';
  if (error) return error.message;
  const names = actions.map((action) => String((action as { type?: unknown }).type));
  return names.length === 0 ? 'No actions' : names.join(', ');
}
