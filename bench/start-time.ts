import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { show } from './figures.ts';
import { startProcess } from './service.ts';

/** Measures the time from the command to the line with the service's URL: a first start, and a second one. */
export async function benchStart(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchboard-start-'));
  const start = async (): Promise<number> => {
    const service = await startProcess('bin/switchboard.js', ['start'], {
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'error',
    });
    await service.stop();
    return service.startMs;
  };
  try {
    const cold = await start();
    const warm = await start();
    console.log(`Start: cold (new database) ${show(cold)} ms, warm ${show(warm)} ms`);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
