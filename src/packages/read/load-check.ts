import { createSandbox } from '../../sandbox/parent/pool.ts';
import type { Bundle, RunResult, Sandbox } from '../../sandbox/run.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { bundleOf } from '../manifest/parts.ts';
import type { ReadPackage } from './read.ts';

/** A package as far as loading it needs it. */
type Loadable = Pick<ReadPackage, 'manifest' | 'bundle'>;

const nobody = { account: 0, bot: 0 };
// No event has this name: a run with it loads the bot without calling a handler.
const noEvent = '';
const restMs = 10_000;
/** Options of a sandbox in which packages are tried. */
export const trialOptions = { size: 1, queueLimit: 1000, maxRssMb: 256, restMs };
/** Outcomes that a busy machine may cause; such a package is tried once more. */
const doubtful = new Set(['timeout', 'deadline', 'crashed', 'unavailable', 'unresponsive']);

// Problems of bundles that were tried, null for none; bundles are never changed.
const known = new WeakMap<Loadable['bundle'], string | null>();

/**
 * Loads packages in a sandbox, without calling a handler: the given one, or one of their own. Returns a sentence for each
 * package that does not load.
 */
export async function findLoadProblems<Pack extends Loadable>(
  packs: readonly Pack[],
  sandbox?: Sandbox,
): Promise<Map<Pack, string>> {
  await tryUnknown(
    packs.filter(({ bundle }) => !known.has(bundle)),
    sandbox,
  );
  return new Map(
    packs.flatMap((pack) => {
      const problem = known.get(pack.bundle) ?? null;
      return problem === null ? [] : [[pack, problem] as const];
    }),
  );
}

async function tryUnknown(packs: readonly Loadable[], given?: Sandbox): Promise<void> {
  if (packs.length === 0) return;
  const sandbox = given ?? createSandbox(trialOptions);
  try {
    for (const pack of packs) known.set(pack.bundle, await findLoadProblem(sandbox, pack));
  } finally {
    if (!given) await sandbox.close();
  }
}

async function findLoadProblem(sandbox: Sandbox, { manifest, bundle }: Loadable): Promise<string | null> {
  for (const part of manifest.parts) {
    const first = await load(sandbox, part, bundle);
    const { outcome, error } = doubtful.has(first.outcome) ? await load(sandbox, part, bundle) : first;
    if (outcome === 'no_handler') continue;
    const code = part.isPart ? `The code of the part ${part.kind}` : 'The code';
    return `${code} does not load (${outcome})${error === undefined ? '' : `: ${error}`}`;
  }
  return null;
}

function load(sandbox: Sandbox, part: Manifest, code: Bundle): Promise<RunResult> {
  const { limits, permissions } = part;
  const bundle = bundleOf(code, part);
  const base = { owner: nobody, bundle, event: {}, handler: noEvent, config: {}, seed: 1, now: 0 };
  return sandbox.run({ ...base, limits, permissions });
}
