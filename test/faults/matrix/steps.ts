import type { Trial } from './trial.ts';
import { Wire, type Moment } from './wire.ts';

/** Steps of an event at which its process dies: while it is stored, before and after; in its run; while its run's effects are committed. */
const steps: readonly { role: 'web' | 'engine'; at: Moment }[] = [
  { role: 'web', at: 'committed' },
  { role: 'engine', at: 'committed' },
  { role: 'engine', at: 'before commit' },
  { role: 'web', at: 'before commit' },
];
/** Commits of a run: its contact, its conversation, its effects. */
const commitsOfRun = 3;

type Wires = Record<'web' | 'engine', Wire>;

/** Does the work with a web process and an engine that it can have killed at their steps, so often; others come after them. */
export async function withKillsAtSteps(
  trial: Trial,
  work: (killAtSteps: (kills: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { services, databaseUrl } = trial;
  const wires = { web: await Wire.to(databaseUrl), engine: await Wire.to(databaseUrl) };
  await services.startWeb({ databaseUrl: wires.web.url });
  await services.startEngine({ databaseUrl: wires.engine.url });
  await work((kills) => killAtSteps(trial, kills, wires));
  for (const process of [services.web, services.engines[0]]) if (process) await services.stop(process);
  await Promise.all([wires.web.close(), wires.engine.close()]);
  await services.startWeb();
  await services.startEngine();
}

async function killAtSteps(trial: Trial, kills: number, wires: Wires): Promise<void> {
  const { services, scale } = trial;
  for (let kill = 0; kill < kills; kill += 1) {
    const { role, at } = steps[kill % steps.length] ?? { role: 'web', at: 'committed' };
    const wire = wires[role];
    await wire.stopAt(at, role === 'web' ? 1 : 1 + Math.floor(scale.random() * commitsOfRun));
    const process = role === 'web' ? services.web : services.engines[0];
    if (process) await services.kill(process);
    wire.cut();
    if (role === 'engine') await trial.endLeases();
    await (role === 'web'
      ? services.startWeb({ databaseUrl: wire.url })
      : services.startEngine({ databaseUrl: wire.url }));
  }
}
