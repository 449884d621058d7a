import { Show, useLoad } from '../../kit/load.tsx';
import { Table } from '../../kit/table.tsx';
import { call } from '../../session.ts';

const figures = [
  ['Runs', 'runs'],
  ['Tokens of prompts', 'prompt_tokens'],
  ['Tokens of answers', 'completion_tokens'],
  ['Given to people', 'handoffs'],
] as const;

/** What the runs of a bot took and did in the last month, by day. */
export function BotUsage({ id }: { id: number }) {
  const usage = useLoad((signal) => call('GET agent_bots/:id/usage', { id, signal }), [id]);
  return (
    <section>
      <h2>Usage</h2>
      <Show of={usage}>
        {({ payload }) => (
          <Table
            caption="Usage by day, the newest first"
            rows={withTotal(payload)}
            keyOf={({ date }) => date}
            empty={<p>It has not run in the last 30 days, so it used nothing.</p>}
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
  const total = { date: 'All', runs: 0, prompt_tokens: 0, completion_tokens: 0, handoffs: 0 };
  for (const day of days) for (const [, name] of figures) total[name] += day[name];
  return [total, ...days.toReversed()];
}
