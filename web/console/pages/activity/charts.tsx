import { useMemo } from 'preact/hooks';
import { Facts } from '../../kit/facts.tsx';
import { ChoiceField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { setQuery } from '../../router.ts';
import { call } from '../../session.ts';
import { Chart } from './chart.tsx';
import { fill, type Report } from './figures.ts';

const spans = {
  day: { text: 'Last 24 hours', by: 'hour', hours: 24 },
  week: { text: 'Last 7 days, hourly', by: 'hour', hours: 7 * 24 },
  month: { text: 'Last 30 days', by: 'day', hours: 30 * 24 },
  year: { text: 'Last 365 days', by: 'day', hours: 365 * 24 },
} as const;
type Span = keyof typeof spans;

const everyMs = 60_000;

/** Activity of the account over time, as charts and tables. */
export function ChartsPage({ query }: ViewProps) {
  const asked = query.get('span') ?? '';
  const span = Object.hasOwn(spans, asked) ? (asked as Span) : 'day';
  const { by, hours } = spans[span];
  const report = useLoad(
    (signal) => {
      const stepHours = by === 'hour' ? 1 : 24;
      // With the one that has just begun.
      const since = Math.floor(Date.now() / 1000) - (hours - stepHours) * 3_600;
      return call('GET reports/activity', { query: { by, since }, signal });
    },
    [by, hours],
  );
  useRepeat(report.value !== null, report.reload, everyMs);
  return (
    <Page title="Charts">
      <div class="filters">
        <ChoiceField
          label="Period"
          value={span}
          onChange={(chosen) => setQuery({ span: chosen })}
          options={Object.entries(spans).map(([name, { text }]) => [name as Span, text] as const)}
        />
      </div>
      <Show of={report}>{(value) => <Charts report={value} />}</Show>
    </Page>
  );
}

const hourText = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });
const dayText = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

function Charts({ report }: { report: Report }) {
  const drawn = useMemo(() => chartsOf(report), [report]);
  const { oldest_pending_at: oldest, by } = report.meta;
  const momentOf = (at: number): string => (by === 'hour' ? hourText : dayText).format(at * 1000);
  return (
    <>
      <p>Updated every minute{by === 'day' && ', days in UTC'}.</p>
      {drawn.charts.map((chart) => (
        <Chart key={chart.title} times={drawn.times} momentOf={momentOf} {...chart} />
      ))}
      <Facts facts={[['Oldest pending delivery', oldest === null ? 'None' : <Time key="oldest" at={oldest} />]]} />
      <p>
        {' '}
        <a href="/console/deliveries?state=failing">View failing deliveries</a>{' '}
      </p>
    </>
  );
}

function chartsOf(report: Report) {
  const { times, line, reasons } = fill(report);
  const noMessages = 'No messages in this period.';
  const nothingSent = 'No deliveries in this period.';
  return {
    times,
    charts: [
      {
        title: 'Customer messages',
        about: 'Public messages by customers',
        series: [line('Customers', ({ messages }) => messages.customers)],
        empty: noMessages,
      },
      {
        title: 'Replies',
        about: 'Public messages by bots and agents',
        series: [line('Bots', ({ messages }) => messages.bots), line('Agents', ({ messages }) => messages.people)],
        empty: 'No replies in this period.',
      },
      {
        title: 'Handoffs',
        about: 'Conversations handed off to agents, by reason',
        series: reasons.map((reason) => line(reason, ({ handoffs }) => handoffs[reason] ?? 0)),
        empty: 'No handoffs in this period.',
      },
      {
        title: 'Customer satisfaction',
        about: 'Average score, from 1 to 5',
        series: [line('Score', ({ ratings }) => averageOf(ratings), null)],
        empty: 'No ratings in this period.',
      },
      {
        title: 'Delivery success rate',
        about: 'Share of successful attempts',
        series: [line('Success rate', ({ attempts, delivered }) => percent(delivered, attempts), null)],
        unit: ' %',
        empty: nothingSent,
      },
      {
        title: 'Response time, p95',
        about: 'Time until endpoints respond',
        series: [line('p95', ({ p95_ms: p95 }) => p95, null)],
        unit: ' ms',
        empty: nothingSent,
      },
      {
        title: 'Oldest pending delivery',
        about: 'Queue age',
        series: [line('Queue age', ({ oldest_pending_seconds: oldest }) => oldest ?? 0)],
        unit: ' s',
        empty: 'No pending deliveries in this period.',
      },
    ],
  };
}

function averageOf(ratings: Readonly<Record<string, number>>): number | null {
  const scores = Object.entries(ratings).map(([score, count]) => ({ sum: Number(score) * count, count }));
  const count = scores.reduce((sum, one) => sum + one.count, 0);
  return count === 0 ? null : Math.round((scores.reduce((sum, one) => sum + one.sum, 0) / count) * 10) / 10;
}

// Rounded down, so that a single failure shows.
function percent(part: number, all: number): number | null {
  return all === 0 ? null : Math.floor((part / all) * 1000) / 10;
}
