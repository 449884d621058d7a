import type { Bench } from '../bench.ts';
import { withFolder } from '../support/database.ts';
import { startProcess } from '../support/service.ts';

/** From the command to the line that says where the service listens: on an empty folder, and again. */
export const startTime: Bench = {
  name: 'start',
  needs: 'nothing',
  boundMs: 90_000,
  run: () =>
    withFolder(async (dataDir) => {
      const start = async (): Promise<number> => {
        const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error' };
        const service = await startProcess('bin/switchboard.js', ['start'], env);
        await service.stop();
        return service.startMs;
      };
      const cold = await start();
      return [
        { path: 'start on an empty folder', unit: 'ms', ours: cold },
        { path: 'start again', unit: 'ms', ours: await start() },
      ];
    }),
};
