import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Table } from '../../kit/table.tsx';
import { call } from '../../session.ts';
import type { Automation } from '../bots/bot-list.ts';

type Tried = Reply<'POST automations/:id/dry_run'>;

interface Props extends Pick<Automation, 'id'> {
  /** Returns the settings in the form. Throws while they are invalid. */
  entered: () => Pick<Automation, 'inbox_ids' | 'config'>;
}

/** Actions that the settings in the form would have taken for past events. Nothing is changed. */
export function DryRun({ id, entered }: Props) {
  const [tried, setTried] = useState<Tried | null>(null);
  return (
    <section>
      <h2>Dry run</h2>
      <p>Run these settings on the last 100 events. Nothing is changed or sent.</p>
      <Action
        act={async () =>
          setTried(await call('POST automations/:id/dry_run', { id, body: { ...entered(), limit: 100 } }))
        }
      >
        Dry run
      </Action>
      <div role="status">{tried && <p class="dry-run-result">{sentenceFor(tried)}</p>}</div>
      {tried && tried.payload.length > 0 && <Matches matches={tried.payload} />}
    </section>
  );
}

function sentenceFor({ looked_at: lookedAt, matched }: Tried): string {
  return `Would have matched ${matched} of ${lookedAt} ${lookedAt === 1 ? 'event' : 'events'}.`;
}

function Matches({ matches }: { matches: Tried['payload'] }) {
  const rows = matches.toReversed().map((match, at) => ({ ...match, key: at }));
  return (
    <Table
      caption="Matches, newest first"
      rows={rows}
      keyOf={({ key }) => key}
      empty={null}
      columns={[
        { title: 'Event', kind: 'fit', cell: ({ event_id: id }) => id },
        {
          title: 'Conversation',
          kind: 'fit',
          cell: ({ conversation_id: id }) => (id === null ? '–' : <a href={`/console/conversations/${id}`}>{id}</a>),
        },
        { title: 'Rule', kind: 'text', cell: ({ rule }) => rule ?? '–' },
        { title: 'Actions', kind: 'text', cell: ({ actions }) => namesOf(actions) },
      ]}
    />
  );
}

function namesOf(actions: readonly object[]): string {
  const names = actions.map((action) => String((action as { type?: unknown }).type));
  return names.length === 0 ? 'No actions' : names.join(', ');
}
