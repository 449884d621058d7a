// A process of `npm test`: runs the test files that scripts/test.ts sends, one after the other, with one PostgreSQL and one
// browser for all of them, and reports each result at once.
import { format } from 'node:util';
import Mocha from 'mocha';
import type { FileReport, RunOptions, WorkerMessage } from '../../scripts/test-run.ts';
import { familyCpuMs } from './family-cpu.ts';
import { mochaHooks } from './hooks.ts';

const { EVENT_HOOK_END, EVENT_RUN_END, EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING } = Mocha.Runner.constants;
const { EVENT_HOOK_BEGIN, EVENT_TEST_BEGIN, EVENT_TEST_END } = Mocha.Runner.constants;
const { Base } = Mocha.reporters;

const report = (message: WorkerMessage): void => void process.send?.(message);

/** Counts results and times of one file; sends each failure when it happens. */
class FileReporter extends Base {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { file } = options.reporterOptions as { file: string };
    const begun = performance.now();
    const cpuMsBefore = familyCpuMs();
    const times: Pick<FileReport, 'hooksMs' | 'tests'> = { hooksMs: 0, tests: [] };
    let stepBegun = begun;
    const begin = (): void => {
      stepBegun = performance.now();
    };
    const sinceBegin = (): number => Math.round(performance.now() - stepBegun);
    runner.on(EVENT_HOOK_BEGIN, begin).on(EVENT_TEST_BEGIN, begin);
    runner.on(EVENT_HOOK_END, () => {
      times.hooksMs += sinceBegin();
    });
    runner.on(EVENT_TEST_PASS, (test) => times.tests.push({ title: test.fullTitle(), ms: sinceBegin() }));
    // A long file is no process that hangs.
    runner.on(EVENT_TEST_END, () => report({ kind: 'alive' }));
    runner.on(EVENT_TEST_PENDING, (test) => report({ kind: 'skipped', file, title: test.fullTitle() }));
    runner.on(EVENT_TEST_FAIL, (test, error: Error) => {
      const [reason = ''] = error.message.split('\n');
      report({ kind: 'failed', file, title: test.fullTitle(), reason });
    });
    runner.once(EVENT_RUN_END, () => {
      const { passes: passed, failures: failed, pending: skipped } = this.stats;
      const ms = Math.round(performance.now() - begun);
      const cpuMs = Math.max(0, familyCpuMs() - cpuMsBefore);
      report({ kind: 'done', file, passed, failed, skipped, ms, cpuMs, ...times, failures: this.#describeFailures() });
    });
  }

  /** Returns the failures as the reporters of Mocha print them. */
  #describeFailures(): string {
    const lines: string[] = [];
    const { consoleLog } = Base;
    Base.consoleLog = (...values: unknown[]) => lines.push(format(...values));
    Base.list(this.failures);
    Base.consoleLog = consoleLog;
    return lines.join('\n');
  }
}

async function runFile(file: string, { grep }: RunOptions): Promise<void> {
  const mocha = new Mocha({ reporter: FileReporter, reporterOptions: { file }, ...(grep ? { grep } : {}) });
  mocha.addFile(file);
  await mocha.loadFilesAsync();
  await new Promise((resolve) => mocha.run(resolve));
  mocha.dispose();
}

/** Runs what is sent; a file that does not load counts as a failure. */
async function take(message: { file: string; options: RunOptions } | 'end'): Promise<void> {
  if (message === 'end') {
    await mochaHooks.afterAll().then(
      () => report({ kind: 'ended', problem: null }),
      (error: unknown) => report({ kind: 'ended', problem: String(error) }),
    );
    process.exit();
  }
  const { file } = message;
  await runFile(file, message.options).catch((error: unknown) => {
    const failures = `  ${file}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
    report({ kind: 'failed', file, title: 'does not load', reason: String(error) });
    report({ kind: 'done', file, passed: 0, failed: 1, skipped: 0, ms: 0, cpuMs: 0, hooksMs: 0, tests: [], failures });
  });
}

process.on('message', (message) => void take(message as Parameters<typeof take>[0]));
// Without its parent nobody would end it.
process.once('disconnect', () => process.exit(1));
