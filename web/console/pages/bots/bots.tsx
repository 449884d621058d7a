import './bots.css';
import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Pages, pageOf } from '../../kit/pages.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call, isAdministrator } from '../../session.ts';
import type { Bot } from './bot-list.ts';
import { Health, nameOfKind } from './bot-words.tsx';
import { NewBot } from './new-bot.tsx';

type Inbox = Reply<'GET inboxes'>['payload'][number];

/** The bots that the account can use: how they are, and where they answer. */
export function BotsPage({ query }: ViewProps) {
  const page = pageOf(query);
  const loaded = useLoad(
    async (signal) => {
      const [bots, inboxes] = await Promise.all([
        call('GET agent_bots', { query: { page }, signal }),
        call('GET inboxes', { signal }),
      ]);
      return { bots, inboxes: inboxes.payload };
    },
    [page],
  );
  const [isMaking, setMaking] = useState(false);
  const mayChange = isAdministrator();
  return (
    <Page
      title="Bots"
      actions={
        mayChange && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New bot
          </button>
        )
      }
    >
      <Show of={loaded}>
        {({ bots, inboxes }) => (
          <>
            <BotTable bots={bots.payload} inboxes={inboxes} mayChange={mayChange} />
            <Pages meta={bots.meta} />
          </>
        )}
      </Show>
      {isMaking && <NewBot close={() => setMaking(false)} made={() => void loaded.reload()} />}
    </Page>
  );
}

interface TableProps {
  bots: readonly Bot[];
  inboxes: readonly Inbox[];
  mayChange: boolean;
}

function BotTable({ bots, inboxes, mayChange }: TableProps) {
  return (
    <Table
      caption="Bots"
      rows={bots}
      keyOf={({ id }) => id}
      empty={<Nothing mayChange={mayChange} />}
      columns={[
        { title: 'Name', kind: 'text', cell: (bot) => <Name bot={bot} /> },
        { title: 'Kind', kind: 'text', cell: nameOfKind },
        { title: 'Health', kind: 'fit', cell: (bot) => <Health bot={bot} /> },
        { title: 'Last error', kind: 'text', cell: (bot) => lastErrorOf(bot) },
        {
          title: 'Token last used',
          kind: 'fit',
          isExtra: true,
          cell: ({ token_last_used_at: at }) => <Time at={at} />,
        },
        {
          title: 'Inboxes',
          kind: 'text',
          cell: ({ id }) => <Inboxes of={inboxes.filter((inbox) => inbox.agent_bot_id === id)} />,
        },
      ]}
    />
  );
}

function Name({ bot: { id, name, system } }: { bot: Bot }) {
  return (
    <>
      <a href={`/console/bots/${id}`}>{name}</a> {system && <small class="badge">system</small>}
    </>
  );
}

function lastErrorOf({ health, quarantine }: Bot): string {
  return health.last_error ?? (quarantine ? quarantine.reason : '–');
}

/** Links to inboxes. */
export function Inboxes({ of: inboxes }: { of: readonly Inbox[] }) {
  if (inboxes.length === 0) return <>–</>;
  return (
    <ul class="plain">
      {inboxes.map(({ id, name }) => (
        <li key={id}>
          <a href={`/console/settings/inboxes/${id}`}>{name}</a>
        </li>
      ))}
    </ul>
  );
}

function Nothing({ mayChange }: { mayChange: boolean }) {
  if (!mayChange) return <p>No bots yet. Administrators create them.</p>;
  return (
    <p>
      No bots yet. Create one, then select it in an <a href="/console/settings/inboxes">inbox</a>.
    </p>
  );
}
