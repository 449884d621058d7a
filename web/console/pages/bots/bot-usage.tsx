import { Show, useLoad } from '../../kit/load.tsx';
import { Table } from '../../kit/table.tsx';
import { call } from '../../session.ts';

const figures = [
  ['Runs', 'runs'],
  ['Prompt tokens', 'prompt_tokens'],
  ['Completion tokens', 'completion_tokens'],
  ['Handoffs', 'handoffs'],
] as const;

/** Usage of a bot in the last month, by day. */
export function BotUsage({ id }: { id: number }) {
  const usage = useLoad((signal) => call('GET agent_bots/:id/usage', { id, signal }), [id]);
  return (
    <section>
      <h2>Usage</h2>
      <Show of={usage}>
        {({ payload }) => (
          <Table
            caption="Usage by day, newest first"
            rows={withTotal(payload)}
            keyOf={({ date }) => date}
            empty={<p>No runs in the last 30 days.</p>}
            columns={[
              { title: 'Day (UTC)', cell: ({ date }) => date },
              ...figures.map(([title, name]) => ({ title, cell: (day: Day) => day[name].toLocaleString() })),
            ]}
          />
        )}
      </Show>
    </section>
  );
}

type Day = { date: string } & Record<(typeof figures)[number][1], number>;

function withTotal(days: readonly Day[]): Day[] {
  if (days.length === 0) return [];
  const total = { date: 'Total', runs: 0, prompt_tokens: 0, completion_tokens: 0, handoffs: 0 };
  for (const day of days) for (const [, name] of figures) total[name] += day[name];
  return [total, ...days.toReversed()];
}
