import { Code, Json } from '../../kit/code.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Table } from '../../kit/table.tsx';
import type { Run } from './run-table.tsx';

type Usage = NonNullable<Run['usage']>;

interface Question {
  messages?: { role?: unknown; content?: unknown; tool_calls?: unknown[] }[];
  temperature?: number;
  tools?: { name?: unknown }[];
}

interface Answer {
  content?: unknown;
  tool_calls?: unknown[];
  finish_reason?: unknown;
}

/** How a run used the knowledge base and a language model: what was found, what the model was told, and what it said. */
export function ModelTrace({ run: { usage, calls } }: { run: Run }) {
  if (!usage) return null;
  const chats = calls.filter(({ name }) => name === 'llm.chat');
  return (
    <section>
      <h2>Knowledge and model</h2>
      <Facts facts={factsOf(usage)} />
      <Passages passages={usage.passages} />
      {chats.map((chat, index) => (
        <Chat key={index} number={index + 1} chat={chat} />
      ))}
      {chats.length === 0 && <p>No model calls.</p>}
    </section>
  );
}

function factsOf(usage: Usage): (readonly [string, string | null])[] {
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  return [
    ['Model', usage.model],
    ['Tokens', prompt + completion === 0 ? null : `${prompt} prompt, ${completion} completion`],
    ['Finish reason', usage.finish_reason],
    ['Model time', `${usage.ms} ms`],
    ['Handoff reason', usage.handoff_reason?.replaceAll('_', ' ') ?? null],
  ];
}

function Passages({ passages }: { passages: Usage['passages'] }) {
  return (
    <Table
      caption="Knowledge base passages"
      rows={passages.map((passage, index) => ({ ...passage, place: index + 1 }))}
      keyOf={({ place }) => place}
      empty={<p>No passages found.</p>}
      columns={[
        { title: 'Rank', cell: ({ place }) => place },
        { title: 'Article', kind: 'text', cell: ({ title }) => title },
        { title: 'Score', cell: ({ score }) => score.toFixed(3) },
        { title: 'Source', kind: 'text', cell: ({ url }) => <Source url={url} /> },
      ]}
    />
  );
}

function Source({ url }: { url: string | null }) {
  if (url === null) return <>–</>;
  return /^https?:\/\//.test(url) ? (
    <a href={url} rel="noreferrer">
      {url}
    </a>
  ) : (
    <>{url}</>
  );
}

function Chat({ chat: { input, output, error }, number }: { chat: Run['calls'][number]; number: number }) {
  const question: Question | null = input ?? null;
  const answer = (output ?? null) as Answer | null;
  return (
    <div class="panel question">
      <h3>Prompt {number}</h3>
      {question ? <Prompt question={question} /> : <p>Prompts of system bots are hidden.</p>}
      <h3>Completion {number}</h3>
      {error && (
        <p class="note error">
          {error.code.replaceAll('_', ' ')}: {error.message}
        </p>
      )}
      {typeof answer?.content === 'string' && answer.content !== '' && (
        <Code label={`Text ${number}`} text={answer.content} />
      )}
      {answer?.tool_calls && answer.tool_calls.length > 0 && (
        <Json label={`Tool calls ${number}`} value={answer.tool_calls} />
      )}
    </div>
  );
}

function Prompt({ question: { messages = [], temperature, tools = [] } }: { question: Question }) {
  return (
    <>
      {messages.map(({ role, content, tool_calls: toolCalls = [] }, index) => (
        <details key={index} open={index === messages.length - 1}>
          <summary>{String(role)}</summary>
          <p class="told">{typeof content === 'string' ? content : ''}</p>
          {toolCalls.length > 0 && <Json label={`Tool calls of message ${index + 1}`} value={toolCalls} />}
        </details>
      ))}
      {temperature !== undefined && <p>Temperature {temperature}</p>}
      {tools.length > 0 && <p>Tools: {tools.map(({ name }) => String(name)).join(', ')}</p>}
    </>
  );
}
