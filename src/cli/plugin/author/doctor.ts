import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { dataDirOf } from '../../../config.ts';
import { readServicePass } from '../../../lib/service-pass.ts';
import { readPackage } from '../../../packages/read/read.ts';
import { findLoadProblems } from '../../../packages/read/load-check.ts';
import { residentMb } from '../../../sandbox/child-process.ts';

export interface DoctorOptions {
  json?: boolean;
}

/** Result of one check of the machine. */
interface Finding {
  name: string;
  state: 'ok' | 'warning' | 'error';
  detail: string;
}

const neededNode = 24;
const sample = fileURLToPath(new URL('../../../../bots/faq', import.meta.url));

/** The command `plugin doctor`: checks the machine for everything that bots need, and prints fixes; exits with 1 on errors. */
export async function printDoctor({ json = false }: DoctorOptions = {}): Promise<void> {
  const findings = [findNode(), await trySandbox(), findWatch(), findTypeScript(), findService()];
  const ok = findings.every(({ state }) => state !== 'error');
  if (!ok) process.exitCode = 1;
  if (json) console.log(JSON.stringify({ ok, findings }, null, 2));
  else for (const { state, name, detail } of findings) console.log(`${state.padEnd(7)} ${name}: ${detail}`);
}

function findNode(): Finding {
  const { node } = process.versions;
  const isNew = Number.parseInt(node, 10) >= neededNode;
  const detail = isNew ? node : `${node}: install Node ${neededNode} or newer`;
  return { name: 'Node.js', state: isNew ? 'ok' : 'error', detail };
}

async function trySandbox(): Promise<Finding> {
  try {
    const pack = await readPackage(sample);
    const [problem] = (await findLoadProblems([pack])).values();
    if (problem !== undefined) throw new Error(problem);
    return { name: 'sandbox', state: 'ok', detail: 'a bot was read, bundled and loaded in a process of its own' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      name: 'sandbox',
      state: 'error',
      detail: `${reason}: run npm ci, on Linux or macOS with Node ${neededNode}`,
    };
  }
}

function findWatch(): Finding {
  const isThere = residentMb(process.pid) !== null;
  const detail = isThere
    ? 'watched through /proc'
    : 'there is no /proc here: a bot that takes too much is stopped later';
  return { name: 'memory of bots', state: isThere ? 'ok' : 'warning', detail };
}

function findTypeScript(): Finding {
  for (const from of [`${process.cwd()}/package.json`, import.meta.filename]) {
    try {
      const { version } = createRequire(from)('typescript/package.json') as { version: string };
      return { name: 'TypeScript', state: 'ok', detail: version };
    } catch {
      // Not installed there.
    }
  }
  const detail = '`plugin check` cannot check types: npm install --save-dev typescript';
  return { name: 'TypeScript', state: 'warning', detail };
}

function findService(): Finding {
  const pass = readServicePass(dataDirOf());
  const detail = pass ? `last started at ${pass.url}` : 'none was started here: npx switchboard start';
  return { name: 'service', state: pass ? 'ok' : 'warning', detail };
}
