import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Runs the child of bench/limits/bare-isolate.ts during `work`; `run` resolves with the milliseconds that one run took. */
export async function withBareIsolate<Result>(
  work: (run: (text: string) => Promise<number>) => Promise<Result>,
): Promise<Result> {
  const script = fileURLToPath(new URL('../limits/bare-isolate.ts', import.meta.url));
  const child = fork(script, { execArgv: ['--no-node-snapshot', '--disable-warning=ExperimentalWarning'] });
  await once(child, 'message');
  try {
    return await work(async (text) => {
      const begun = performance.now();
      child.send(text);
      await once(child, 'message');
      return performance.now() - begun;
    });
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}
