import './bots.css';
import type { Reply } from '../../../shared/call.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Segments } from '../../kit/segments.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { setQuery } from '../../router.ts';
import { call } from '../../session.ts';
import { BotTabs } from './bot-tabs.tsx';

type Question = Reply<'GET agent_bots/:id/unanswered'>['payload'][number];

const spans = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;
type Span = (typeof spans)[number][0];

const daySeconds = 86_400;
/** Questions that the service lists at most. */
const listedAtMost = 100;

/** Questions of customers that no article answered, each with the way to write one. */
export function UnansweredPage({ parameters, query }: ViewProps) {
  const id = Number(parameters['id']);
  const asked = query.get('days');
  const days = spans.find(([span]) => span === asked)?.[0] ?? '30';
  const bot = useLoad((signal) => call('GET agent_bots/:id', { id, signal }), [id]);
  const questions = useLoad(
    (signal) => {
      const since = Math.floor(Date.now() / 1000) - Number(days) * daySeconds;
      return call('GET agent_bots/:id/unanswered', { id, query: { since }, signal });
    },
    [id, days],
  );
  return (
    <Page title="Unanswered questions" above={<a href={`/console/bots/${id}`}>{bot.value?.name ?? 'Bot'}</a>}>
      {bot.value && <BotTabs bot={bot.value} present="unanswered" />}
      <div class="toolbar">
        <Segments<Span> label="Period" value={days} onChange={(span) => setQuery({ days: span })} options={spans} />
        {questions.value && <Summary questions={questions.value.payload} />}
      </div>
      <Show of={questions}>{({ payload }) => <Questions questions={payload} days={days} />}</Show>
      <p class="faint">
        Questions are listed as long as the runs of the bot are kept (<code>RUN_RETENTION_DAYS</code>).
      </p>
    </Page>
  );
}

function Summary({ questions }: { questions: readonly Question[] }) {
  const times = questions.reduce((sum, { count }) => sum + count, 0);
  if (times === 0) return null;
  const rest = questions.length >= listedAtMost ? `The ${listedAtMost} most frequent` : counted(questions.length);
  return (
    <p>
      {rest} · asked {times.toLocaleString()} {times === 1 ? 'time' : 'times'}
    </p>
  );
}

function counted(count: number): string {
  return `${count} ${count === 1 ? 'question' : 'questions'}`;
}

function Questions({ questions, days }: { questions: readonly Question[]; days: Span }) {
  return (
    <Table
      caption="Unanswered questions, the most frequent first"
      rows={questions}
      keyOf={({ question, last_asked_at: at }) => `${at} ${question}`}
      empty={<Nothing days={days} />}
      columns={[
        { title: 'Question', kind: 'text', cell: ({ question }) => <span class="quote">{question}</span> },
        { title: 'Asked', kind: 'fit', cell: ({ count }) => `${count.toLocaleString()}×` },
        { title: 'Last asked', kind: 'fit', cell: ({ last_asked_at: at }) => <Time at={at} /> },
        { title: 'Conversations', kind: 'text', cell: ({ conversation_ids: ids }) => <Conversations ids={ids} /> },
        { title: 'Actions', kind: 'fit', cell: ({ question }) => <WriteArticle question={question} /> },
      ]}
    />
  );
}

function Nothing({ days }: { days: Span }) {
  return (
    <>
      <p>No unanswered questions in the last {days} days.</p>
      <p>Questions appear here when the bot hands off because no article answers.</p>
      <p>
        <a class="button" href="/console/knowledge/articles">
          View articles
        </a>
      </p>
    </>
  );
}

function Conversations({ ids }: { ids: readonly number[] }) {
  return (
    <span class="tags">
      {ids.map((id) => (
        <a key={id} href={`/console/conversations/${id}`}>
          #{id}
        </a>
      ))}
    </span>
  );
}

function WriteArticle({ question }: { question: string }) {
  const address = `/console/knowledge/articles/new?title=${encodeURIComponent(question)}`;
  return (
    <a class="button" href={address} aria-label={`Write article: ${question}`}>
      Write article
    </a>
  );
}
