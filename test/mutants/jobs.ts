import type { Mutant } from './mutant.ts';

export const jobs: readonly Mutant[] = [
  {
    file: 'src/jobs/alarm-clock.ts',
    text: `      this.#recurring(new Set(rows.filter((row) => row.is_recurring).map(({ name }) => name)));
`,
    replacement: '',
    test: 'test/jobs/alarm-clock.test.ts',
    only: 'carries no truth',
    harm: 'Once its table is lost, recurring work is not done until the next start.',
  },
  {
    file: 'src/jobs/alarm-clock.ts',
    text: `  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));`,
    replacement: `  } catch {
    done();`,
    test: 'test/jobs/alarm-clock.test.ts',
    only: 'tells of an alarm that fails',
    harm: 'Nobody hears that the work of an alarm fails.',
  },
  {
    file: 'src/jobs/one-at-a-time.ts',
    text: '(running ? (next ??= running.then(run)) : run())',
    replacement: 'run()',
    test: 'test/jobs/sweeps.test.ts',
    only: 'once at a time',
    harm: 'A wake that takes longer than ten seconds is begun a second time beside itself, and requests wait for both.',
  },
  {
    file: 'src/jobs/one-at-a-time.ts',
    text: '(next ??= running.then(run))',
    replacement: '(running as Promise<Result>)',
    test: 'test/jobs/one-at-a-time.test.ts',
    harm: 'What becomes due behind a sweep waits for the recurring alarm.',
  },
];
