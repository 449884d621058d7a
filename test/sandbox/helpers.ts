import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sampleEvents } from '../../src/cli/sample-events.ts';
import { defaultLimits, noPermissions } from '../../src/sandbox/run.ts';
import type { Bundle, Permissions, RunLimits, RunRequest } from '../../src/sandbox/run.ts';

/** Everything a manifest can ask for. */
export const allPermissions: Permissions = {
  ...noPermissions,
  conversation: ['reply', 'note', 'handoff', 'label'],
  contact: ['name', 'email', 'phone_number', 'identifier', 'custom_attributes'],
  notes_read: true,
  receive_own: true,
};

/** A bundle of any script. */
export function bundleOf(code: string): Bundle {
  return { code, hash: createHash('sha256').update(code).digest('hex') };
}

/** A bundle whose message_created handler has this body; `top` runs when it is loaded. */
export function botOf(body: string, top = ''): Bundle {
  return bundleOf(`${top};({ default: { on: { async message_created(ctx) { ${body}\n } } } })`);
}

/** Limits for runs that no limit is to end: on a busy machine, half a second of a slice is little computing. */
export const unhurried: RunLimits = { ...defaultLimits, sliceMs: 15_000 };

/** A request that runs the bundle on the sample message, without hurry. */
export function requestOf(bundle: Bundle, changes: Partial<RunRequest> = {}): RunRequest {
  return {
    owner: { account: 1, bot: 1 },
    bundle,
    event: sampleEvents.message_created,
    handler: 'message_created',
    config: {},
    seed: 7,
    now: 1_750_000_000_000,
    limits: unhurried,
    permissions: allPermissions,
    ...changes,
  };
}

const hertz = 100;

/** Milliseconds of processor time that a process has used, as the system counts it; 0 when it is gone. */
export function computedMs(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const [user = 0, system = 0] = fields.slice(11, 13).map(Number);
    return ((user + system) * 1000) / hertz;
  } catch {
    return 0;
  }
}

/** Process ids of the sandbox children of this process. */
export function sandboxPids(): number[] {
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => new RegExp(`^PPid:\\s+${process.pid}$`, 'm').test(read(pid, 'status')))
    .filter((pid) => read(pid, 'cmdline').includes('sandbox/child/serve-runs.'))
    .map(Number);
}

/** Waits until the condition holds; fails after `withinMs`. */
export async function until(condition: () => boolean, withinMs = 60_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error('It did not happen in time');
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

/** A temporary directory with these files (path → content); `remove` takes it away. */
export function directoryOf(files: Record<string, string>): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'switchboard-runtime-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

/** A good plugin.json as an object, with changes. */
export function manifestOf(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'sample',
    name: 'Sample',
    version: '1.0.0',
    apiVersion: '1',
    main: 'bot.ts',
    events: ['message_created'],
    permissions: { conversation: ['reply'] },
    ...changes,
  };
}
