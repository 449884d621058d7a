import { createProgram, printFailure } from './program.ts';

const parentPollMs = 100;

/**
 * Sends this process SIGTERM when its parent has ended: a user who kills npm or the launcher wants to end the service.
 */
function endWithParent(parent: number): void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, parentPollMs);
  timer.unref();
}

try {
  await createProgram()
    .on('option:parent', (pid: string) => endWithParent(Number(pid)))
    .parseAsync();
} catch (error) {
  printFailure(error);
  // Parts that already run, such as the embedded database, would keep the process alive.
  process.exit(1);
}
