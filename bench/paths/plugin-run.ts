import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sampleEvents } from '../../src/cli/sample-events.ts';
import { openConfig } from '../../src/packages/manifest/manifest.ts';
import { readPackage } from '../../src/packages/read/read.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import type { Bundle, RunRequest } from '../../src/sandbox/run.ts';
import type { Bench } from '../bench.ts';
import { withBareIsolate } from '../support/bare-isolate.ts';
import { median, percentile } from '../support/figures.ts';

const warmUps = 20;
const counted = 200;
const question = 'What are your opening hours?';
const faq = fileURLToPath(new URL('../../bots/faq', import.meta.url));
const restMs = 20;

/** From an event to the actions of a real plugin in an isolate that nobody used before, in turns with the bare isolate. */
export const pluginRun: Bench = {
  name: 'plugin-run',
  needs: 'nothing',
  boundMs: 120_000,
  async run() {
    const requestOf = await requests();
    const sandbox = createSandbox({ size: 1, queueLimit: 1, maxRssMb: 256 });
    const took = async (request: RunRequest): Promise<number> => {
      const begun = performance.now();
      const { outcome, error } = await sandbox.run(request);
      if (outcome !== 'ok') throw new Error(error);
      return performance.now() - begun;
    };
    const [known, bare, rested, fresh]: number[][] = [[], [], [], []];
    await withBareIsolate(async (runBare) => {
      for (let count = 0; count < warmUps + counted; count++) {
        known?.push(await took(requestOf()));
        bare?.push(await runBare(question));
        fresh?.push(await took(requestOf(count)));
        await sleep(restMs);
        rested?.push(await took(requestOf()));
      }
    });
    await sandbox.close();
    const [ours, limits, afterRest, ofNew] = [known, bare, rested, fresh].map((all) => (all ?? []).slice(warmUps));
    const limit = { name: 'bare isolate in a child', value: median(limits ?? []) };
    return [
      { path: 'cold run of a plugin, p50', unit: 'ms', ours: median(ours ?? []), limit },
      { path: 'cold run of a plugin, p95', unit: 'ms', ours: percentile(ours ?? [], 0.95) },
      {
        path: `cold run of a plugin ${restMs} ms after the last, p50`,
        unit: 'ms',
        ours: median(afterRest ?? []),
        limit,
      },
      {
        path: 'cold run of a plugin whose code its process has not seen, p50',
        unit: 'ms',
        ours: median(ofNew ?? []),
        limit,
      },
    ];
  },
};

/** Makes requests with the question for the sample bot; with a number, for code that is unlike all other. */
async function requests(): Promise<(number?: number) => RunRequest> {
  const { manifest: plugin, bundle } = await readPackage(faq);
  const [manifest] = plugin.parts;
  const { config } = openConfig(manifest, {});
  const { message_created: sample } = sampleEvents;
  const one: Omit<RunRequest, 'bundle'> = {
    owner: { account: 1, bot: 1 },
    event: { ...sample, content: question },
    handler: 'message_created',
    config,
    seed: 7,
    now: Date.now(),
    limits: manifest.limits,
    permissions: manifest.permissions,
  };
  const named = (number?: number): Bundle =>
    number === undefined ? bundle : { hash: `${bundle.hash}-${number}`, code: bundle.code };
  return (number) => ({ ...one, bundle: named(number) });
}
