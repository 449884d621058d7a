import { automations } from './automations.ts';
import { killedChannels } from './channels.ts';
import { clients } from './clients.ts';
import { clocks } from './clocks.ts';
import { engineOff } from './engine-off.ts';
import { manyEngines } from './engines.ts';
import { everything } from './everything.ts';
import type { DatabaseFault, Fault } from './fault.ts';
import { hooks } from './hooks.ts';
import { killedProcesses } from './killed-processes.ts';
import { lostDatabases } from './lost-databases.ts';
import { oddReceivers } from './odd-receivers.ts';
import { soak } from './soak.ts';
import { unreachableReceivers } from './unreachable-receivers.ts';

const all = [
  ...killedProcesses,
  ...lostDatabases,
  manyEngines,
  ...oddReceivers,
  ...unreachableReceivers,
  ...clocks,
  ...clients,
  engineOff,
  ...killedChannels,
  hooks,
  automations,
];

/** Every fault, F1 to F27, all at once, and none for long. */
export const faults: readonly (Fault | DatabaseFault)[] = [
  ...all.toSorted((one, other) => numberOf(one) - numberOf(other)),
  everything,
  soak,
];

function numberOf({ id }: Pick<Fault, 'id'>): number {
  return Number(id.slice(1));
}
