import './bots.css';
import type { ComponentChildren } from 'preact';
import { Code, Json } from '../../kit/code.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call } from '../../session.ts';
import { Deeds } from './deeds.tsx';
import { HostCalls } from './host-calls.tsx';
import { ModelTrace } from './model-trace.tsx';
import { Outcome, wordsOf } from './outcomes.tsx';
import { Replay } from './replay.tsx';
import { RunLog } from './run-log.tsx';
import type { Run } from './run-table.tsx';
import { runnerOf, type Runner } from './runner.ts';

/** Page of a run: its input, calls, actions, log and outcome. */
export function RunPage({ parameters }: ViewProps) {
  const id = Number(parameters['id']);
  const loaded = useLoad(
    async (signal) => {
      const run = await call('GET runs/:id', { id, signal });
      return { run, name: await nameOf(runnerOf(run), signal) };
    },
    [id],
  );
  return (
    <Page title={`Run ${parameters['id']}`}>
      <Show of={loaded}>
        {({ run, name }) => (
          <>
            <Facts facts={factsOf(run, name)} />
            {run.erased_at !== null && (
              <p class="note">The record was erased with a message that it contained. This run cannot be replayed.</p>
            )}
            {run.error && <Failure error={run.error} />}
            <Deeds run={run} />
            <ModelTrace run={run} />
            <RunLog lines={run.logs} />
            <HostCalls calls={run.calls} />
            <Got run={run} />
            {run.erased_at === null && <Replay run={run} />}
          </>
        )}
      </Show>
    </Page>
  );
}

// Agents who see the run may not see the inbox.
async function nameOf({ title, id }: Runner, signal: AbortSignal): Promise<string> {
  if (title === 'Inbox') return `Inbox ${id}`;
  const path = title === 'Bot' ? 'GET agent_bots/:id' : 'GET automations/:id';
  return (await call(path, { id, signal })).name;
}

function factsOf(run: Run, name: string): (readonly [string, ComponentChildren])[] {
  const { plugin, event } = run;
  const { title, path } = runnerOf(run);
  return [
    ['Outcome', <Outcome key="outcome" name={run.outcome} />],
    ['Meaning', wordsOf(run.outcome)],
    [
      title,
      <a key="runner" href={path}>
        {name}
      </a>,
    ],
    [
      'Conversation',
      run.conversation_id && (
        <a key="conversation" href={`/console/conversations/${run.conversation_id}`}>
          {run.conversation_id}
        </a>
      ),
    ],
    ['Event', <code key="event">{event.name}</code>],
    ['Attempt', run.attempt === 1 ? null : run.attempt],
    ['Handoff reason', handoffReasonOf(run)],
    ['Plugin', [plugin.id, plugin.version].filter(Boolean).join(' ')],
    ['Code hash', plugin.hash && <code key="hash">{plugin.hash}</code>],
    ['Duration', `${run.wall_ms} ms (CPU ${run.cpu_ms} ms)`],
    ['Started', <Time key="when" at={run.created_at} />],
  ];
}

function handoffReasonOf({ actions, usage }: Run): string | null {
  const handoff = actions.find((action) => (action as { type?: unknown }).type === 'handoff') as
    | { reason?: unknown; cause?: unknown }
    | undefined;
  if (!handoff) return null;
  const cause = typeof handoff.cause === 'string' ? handoff.cause : (usage?.handoff_reason ?? 'plugin');
  return `${cause.replaceAll('_', ' ')}: ${String(handoff.reason)}`;
}

function Failure({ error }: { error: NonNullable<Run['error']> }) {
  return (
    <section>
      <h2>Error</h2>
      <p class="note error">{error.message}</p>
      {error.stack !== null && <Code label="Stack trace" text={error.stack} />}
    </section>
  );
}

function Got({ run }: { run: Run }) {
  return (
    <section>
      <h2>Input</h2>
      <details>
        <summary>Event</summary>
        <Json label="Event" value={run.event.body} />
      </details>
      <details>
        <summary>Settings</summary>
        <Json label="Settings" value={run.config} />
      </details>
      <p>
        Clock {new Date(run.now).toISOString()}, random seed {run.seed}
      </p>
    </section>
  );
}
