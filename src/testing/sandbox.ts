import { startSandboxProcess } from '../sandbox/child-process.ts';
import type { SandboxProcess } from '../sandbox/child-process.ts';
import { createSandbox } from '../sandbox/parent/pool.ts';
import type { Sandbox } from '../sandbox/run.ts';

const options = { size: 1, queueLimit: 100, maxRssMb: 256 };

/** A handle that keeps Node running, unless `unref` is called. */
interface Referenced {
  unref?: () => void;
}

/**
 * The sandbox of the service, with one child that does not keep the process of a test alive: a test need not close
 * anything.
 */
export function createIdleSandbox(): Sandbox {
  return createSandbox({ ...options, start: startUnwaited });
}

function startUnwaited(maxRssMb: number): SandboxProcess {
  const child = startSandboxProcess(maxRssMb);
  child.unref();
  for (const pipe of [child.stdin, child.stdout] as Referenced[]) pipe.unref?.();
  return child;
}

/** Waits for a promise while no other part of the process may be waiting for anything. */
export async function awake<Result>(work: () => Promise<Result>): Promise<Result> {
  const timer = setInterval(() => undefined, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
