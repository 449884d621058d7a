import './bots.css';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { downloadLines } from '../../kit/download.ts';
import { useDraft } from '../../kit/draft.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Progress } from '../../kit/progress.tsx';
import { Segments } from '../../kit/segments.tsx';
import { useTask } from '../../kit/task.ts';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call } from '../../session.ts';
import type { Bot } from './bot-list.ts';
import { BotTabs } from './bot-tabs.tsx';
import { writeCases, type EvalCase } from './eval-cases.ts';
import { CaseDialog, ImportDialog } from './eval-dialogs.tsx';
import { rowsOf, type EvalRow, type LastEvals } from './eval-rows.ts';
import { EvalTable } from './eval-table.tsx';
import { runEvals, runningEvals, type EvalProgress } from './run-evals.ts';

/** Cases of a bot, their results, and what has changed since the last run. */
export function EvalsPage({ parameters }: ViewProps) {
  const id = Number(parameters['id']);
  const loaded = useLoad(
    async (signal) => {
      const [bot, { last_evals: last }] = await Promise.all([
        call('GET agent_bots/:id', { id, signal }),
        call('GET agent_bots/:id/usage', { id, signal }),
      ]);
      return { bot, last };
    },
    [id],
  );
  return (
    <Page title="Evals" above={<a href={`/console/bots/${id}`}>{loaded.value?.bot.name ?? 'Bot'}</a>}>
      <Show of={loaded}>
        {({ bot, last }) => (
          <>
            <BotTabs bot={bot} present="evals" />
            {bot.kind === 'webhook' || bot.system ? (
              <p class="empty">Only bots of this account that run inside the service can be evaluated.</p>
            ) : (
              <Evals bot={bot} last={last} />
            )}
          </>
        )}
      </Show>
    </Page>
  );
}

type Open = { kind: 'import' } | { kind: 'case'; index: number | null } | null;

function Evals({ bot: { id, name }, last }: { bot: Bot; last: LastEvals }) {
  const draft = useDraft<{ cases: readonly EvalCase[] }>(`evals ${id}`, { cases: [] });
  const { cases } = draft.value;
  const [open, setOpen] = useState<Open>(null);
  const task = useTask(runningEvals);
  const progress = task.progress?.bot === id ? task.progress : null;
  const isRunning = task.since !== null;
  const rows = rowsOf({ cases, progress, last });
  const set = (next: readonly EvalCase[]): void => draft.set({ cases: next });
  const run = (): void =>
    void runningEvals.start((started) => runEvals(id, cases, started), {
      done: `Evals of ${name} finished.`,
      endsWithTab: true,
    });
  return (
    <>
      <Commands name={name} cases={cases} isRunning={isRunning} run={run} open={setOpen} />
      <Standing isRunning={isRunning} progress={progress} error={task.error} />
      {!isRunning && <Figures rows={rows} progress={progress} last={last} />}
      <Results
        rows={rows}
        isRunning={isRunning && progress !== null}
        empty={<Nothing />}
        edit={(index) => setOpen({ kind: 'case', index })}
        remove={(index) => set(cases.toSpliced(index, 1))}
      />
      {open?.kind === 'case' && (
        <CaseDialog bot={id} cases={cases} index={open.index} close={() => setOpen(null)} saved={set} />
      )}
      {open?.kind === 'import' && <ImportDialog cases={cases} close={() => setOpen(null)} saved={set} />}
    </>
  );
}

interface StandingProps {
  isRunning: boolean;
  /** Progress of this bot's run; null where there is none, or only that of another bot. */
  progress: EvalProgress | null;
  error: string | null;
}

function Standing({ isRunning, progress, error }: StandingProps) {
  if (isRunning && !progress) return <p class="note">Evals of another bot are running. Wait for them, or stop them.</p>;
  if (!progress) return null;
  if (isRunning) return <Progress label="Asked" done={doneOf(progress)} total={progress.cases.length} />;
  if (error === null) return null;
  return (
    <p class="note error" role="alert">
      {error} The results are not kept.
    </p>
  );
}

interface CommandsProps {
  /** Name of the bot. */
  name: string;
  cases: readonly EvalCase[];
  isRunning: boolean;
  run: () => void;
  open: (dialog: Open) => void;
}

function Commands({ name, cases, isRunning, run, open }: CommandsProps) {
  return (
    <div class="toolbar">
      <div class="actions">
        {isRunning ? (
          <button type="button" class="danger" onClick={() => runningEvals.stop()}>
            Stop
          </button>
        ) : (
          <button type="button" class="primary" disabled={cases.length === 0} onClick={run}>
            Run {cases.length} {cases.length === 1 ? 'case' : 'cases'}
          </button>
        )}
        <button type="button" disabled={isRunning} onClick={() => open({ kind: 'case', index: null })}>
          New case
        </button>
        <button type="button" disabled={isRunning} onClick={() => open({ kind: 'import' })}>
          Import cases
        </button>
        <button type="button" disabled={cases.length === 0} onClick={() => download(name, cases)}>
          Download
        </button>
      </div>
      <p>No conversations are written to. Tokens count in the bot’s usage.</p>
    </div>
  );
}

function doneOf({ results }: EvalProgress): number {
  return results.filter((result) => result !== undefined).length;
}

function Nothing() {
  return (
    <>
      <p>No cases yet.</p>
      <p>Add questions that customers ask and what the bot should do, or import a file of npx switchboard evals.</p>
    </>
  );
}

interface FiguresProps {
  rows: readonly EvalRow[];
  progress: EvalProgress | null;
  last: LastEvals;
}

function Figures({ rows, progress, last }: FiguresProps) {
  const asked = rows.filter(({ result }) => result !== null);
  if (asked.length === 0) return null;
  const passed = asked.filter(({ result }) => result?.passed).length;
  const kept = progress?.kept ?? null;
  const countOf = (kind: string): number => kept?.changes.filter((change) => change.kind === kind).length ?? 0;
  const ranAt = progress ? (kept?.ran_at ?? null) : (last?.ran_at ?? null);
  return (
    <dl class="figures">
      <Figure name="Passed">
        {Math.floor((passed / asked.length) * 100)} %{' '}
        <small>
          {passed} of {asked.length}
        </small>
      </Figure>
      {kept?.last_ran_at && (
        <>
          <Figure name="Fixed">{countOf('fixed')}</Figure>
          <Figure name="Broken">{countOf('broken')}</Figure>
          <Figure name="Changed">{countOf('changed')}</Figure>
        </>
      )}
      {ranAt !== null && (
        <Figure name="Last run">
          <Time at={ranAt} />
        </Figure>
      )}
    </dl>
  );
}

function Figure({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

type Shown = 'all' | 'failed' | 'changed';

function Results({ rows, empty, ...table }: Parameters<typeof EvalTable>[0]) {
  const [shown, setShown] = useState<Shown>('all');
  const failed = rows.filter(({ result }) => result?.passed === false);
  const changed = rows.filter(({ change }) => change !== null && change.kind !== 'new');
  const chosen = { all: rows, failed, changed }[shown];
  return (
    <>
      {rows.length > 0 && (
        <div class="toolbar">
          <Segments<Shown>
            label="Shown cases"
            value={shown}
            onChange={setShown}
            options={[
              ['all', `All ${rows.length}`],
              ['failed', `Failed ${failed.length}`],
              ['changed', `Changed ${changed.length}`],
            ]}
          />
        </div>
      )}
      <EvalTable {...table} rows={chosen} empty={rows.length === 0 ? empty : <p>No cases match this filter.</p>} />
    </>
  );
}

function download(name: string, cases: readonly EvalCase[]): void {
  downloadLines(`${name.replace(/[^\p{L}\p{N}]+/gu, '-')}-evals.jsonl`, writeCases(cases));
}
