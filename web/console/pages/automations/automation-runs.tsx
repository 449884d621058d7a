import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { Table } from '../../kit/table.tsx';
import { call } from '../../session.ts';
import type { Automation } from '../bots/bot-list.ts';
import { RunTable, type Run } from '../bots/run-table.tsx';

const shown = 5;

/** Latest runs of an automation, and how often its rules matched in them. */
export function AutomationRuns({ automation: { id, name } }: { automation: Automation }) {
  const runs = useLoad((signal) => call('GET runs', { query: { automation_id: id }, signal }), [id]);
  useReloadOn(() => true, runs.reload);
  return (
    <section>
      <h2>Latest runs</h2>
      <Show of={runs}>
        {({ payload }) => (
          <>
            <RuleCounts runs={payload} />
            <RunTable
              runs={payload.slice(0, shown)}
              names={new Map([[id, name]])}
              empty={<p>No runs yet. The automation runs for events that happen while it is on.</p>}
            />
          </>
        )}
      </Show>
      <p>
        <a href={`/console/runs?automation_id=${id}`}>All runs</a>
      </p>
    </section>
  );
}

function RuleCounts({ runs }: { runs: readonly Run[] }) {
  const rules = runs.flatMap(({ logs }) => logs.flatMap(({ fields }) => ruleIn(fields)));
  if (rules.length === 0) return null;
  const rows = [...new Set(rules)].map((rule) => ({ rule, count: rules.filter((one) => one === rule).length }));
  return (
    <Table
      caption={`Matches by rule in the last ${runs.length} runs`}
      rows={rows}
      keyOf={({ rule }) => rule}
      empty={null}
      columns={[
        { title: 'Rule', kind: 'text', cell: ({ rule }) => rule },
        { title: 'Matches', kind: 'fit', cell: ({ count }) => count },
      ]}
    />
  );
}

function ruleIn(fields: object | undefined): string[] {
  const { rule } = (fields ?? {}) as { rule?: unknown };
  return typeof rule === 'string' ? [rule] : [];
}
