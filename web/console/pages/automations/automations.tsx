import './automations.css';
import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Pages, pageOf } from '../../kit/pages.tsx';
import { Table } from '../../kit/table.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call, isAdministrator } from '../../session.ts';
import type { Automation } from '../bots/bot-list.ts';
import { AutomationHealth } from './automation-health.tsx';
import { NewAutomation } from './new-automation.tsx';

/** The automations of the account: whether they are on, and how they are. */
export function AutomationsPage({ query }: ViewProps) {
  const page = pageOf(query);
  const loaded = useLoad((signal) => call('GET automations', { query: { page }, signal }), [page]);
  const [isMaking, setMaking] = useState(false);
  const mayChange = isAdministrator();
  return (
    <Page
      title="Automations"
      actions={
        mayChange && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New automation
          </button>
        )
      }
    >
      <Show of={loaded}>
        {({ payload, meta }) => (
          <>
            <AutomationTable rows={payload} mayChange={mayChange} changed={loaded.reload} />
            <Pages meta={meta} />
          </>
        )}
      </Show>
      {isMaking && <NewAutomation close={() => setMaking(false)} />}
    </Page>
  );
}

interface TableProps {
  rows: readonly Automation[];
  mayChange: boolean;
  changed: () => Promise<void>;
}

function AutomationTable({ rows, mayChange, changed }: TableProps) {
  return (
    <Table
      caption="Automations, oldest first"
      rows={rows}
      keyOf={({ id }) => id}
      empty={
        <p>No automations yet. {mayChange ? 'Create one to act on events by rules.' : 'Administrators create them.'}</p>
      }
      columns={[
        { title: 'Name', kind: 'text', cell: ({ id, name }) => <a href={`/console/automations/${id}`}>{name}</a> },
        { title: 'Plugin', kind: 'text', isExtra: true, cell: ({ plugin_id: plugin }) => plugin },
        {
          title: 'Inboxes',
          kind: 'fit',
          isExtra: true,
          cell: ({ inbox_ids: ids }) => (ids === null ? 'All' : String(ids.length)),
        },
        { title: 'State', kind: 'fit', cell: ({ active }) => <State active={active} /> },
        { title: 'Health', kind: 'fit', cell: ({ health }) => <AutomationHealth health={health} /> },
        { title: 'Last error', kind: 'text', isExtra: true, cell: ({ health }) => health.last_error ?? '–' },
        ...(mayChange
          ? [
              {
                title: 'Actions',
                kind: 'fit' as const,
                cell: (automation: Automation) => <Switch automation={automation} changed={changed} />,
              },
            ]
          : []),
      ]}
    />
  );
}

/** Whether an automation is on. */
export function State({ active }: { active: boolean }) {
  return active ? <span class="badge good">On</span> : <span class="badge">Off</span>;
}

/** The button that turns an automation on or off. */
export function Switch({ automation, changed }: { automation: Automation; changed: () => Promise<void> }) {
  const { id, name, active } = automation;
  const verb = active ? 'Turn off' : 'Turn on';
  return (
    <Action
      label={`${verb} ${name}`}
      done={`“${name}” is ${active ? 'off' : 'on'}.`}
      act={async () => {
        await call('PATCH automations/:id', { id, body: { active: !active } });
        await changed();
      }}
    >
      {verb}
    </Action>
  );
}
