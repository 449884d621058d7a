import { validateConfig } from '../packages/manifest/manifest.ts';
import type { Manifest } from '../packages/manifest/manifest.ts';
import { bundleOf } from '../packages/manifest/parts.ts';
import { PluginError } from '../packages/plugin-error.ts';
import { readPackage, type ReadPackage } from '../packages/read/read.ts';
import { createSandbox } from '../sandbox/parent/pool.ts';
import type { Action, Bundle, RunRequest, RunResult, Sandbox } from '../sandbox/run.ts';
import { openOffline } from '../testing/offline-doors.ts';
import { printable } from '../lib/text/printable.ts';
import type { Finding } from './plugin/compare-uses.ts';
import { lookAtCode } from './plugin/look-at-code.ts';
import { packageLines } from './plugin/package-lines.ts';
import { lookAtFolder } from './plugin/look-at-folder.ts';
import type { EventName } from '../events/catalog.ts';
import { sampleBody } from '../events/sample-body.ts';
import { sampleEvents } from './sample-events.ts';

/** The report, line by line; `ok` = the package can be used, although lines may begin with `warning:`. */
export interface CheckReport {
  ok: boolean;
  report: string[];
}

/** Further checks of a package that can be read. */
type CheckCode = (pack: ReadPackage) => Finding[] | Promise<Finding[]>;

const nobody = { account: 0, bot: 0 };
const sampleSeed = 1;
const sampleNow = 1_750_000_000_000;
const sandboxOptions = { size: 1, queueLimit: 10, maxRssMb: 256 };
// No event has this name: a run with it loads the bot without calling a handler.
const noEvent = '';
const calls = 'schedule';

type ScheduleAction = Extract<Action, { type: 'schedule' }>;

interface Subject {
  manifest: Manifest;
  bundle: Bundle;
  config: Record<string, unknown>;
}

/**
 * Checks a package without a service: validates the manifest, compares the code with the permissions, bundles and loads it,
 * and runs each handler twice on a sample event with the default settings. Never rejects because of the package.
 */
export async function tryPackage(
  directory: string,
  checkCode: CheckCode = (pack) => lookAtCode(directory, pack),
): Promise<CheckReport> {
  let found: ReadPackage;
  let ofFolder: Finding[];
  try {
    found = await readPackage(directory);
    ofFolder = await lookAtFolder(directory, found);
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    return { ok: false, report: error.problems.map((problem) => `error: ${problem}`) };
  }
  const { manifest, bundle, packages } = found;
  const findings = [...ofFolder, ...(await checkCode(found))];
  const report = [
    `${manifest.id} ${manifest.version}: ${bundle.code.length} characters, sha256 ${bundle.hash}`,
    ...packageLines(packages).map((line) => `npm package ${line}`),
    ...findings.map(({ level, file, line, message }) => `${level}: ${file}:${line}: ${message}`),
  ];
  let isSound = !findings.some(({ level }) => level === 'error');
  const sandbox = createSandbox(sandboxOptions);
  try {
    for (const part of manifest.parts) {
      const tried = await tryPart(sandbox, part, bundleOf(bundle, part));
      isSound &&= tried.ok;
      report.push(...(part.isPart ? [`the part ${part.kind}:`] : []), ...tried.report);
    }
    return { ok: isSound, report };
  } finally {
    await sandbox.close();
  }
}

async function tryPart(sandbox: Sandbox, manifest: Manifest, bundle: Bundle): Promise<CheckReport> {
  const { config, problems } = validateConfig(manifest, {});
  // An inbox always has settings of its own: where it is, and as whom it speaks.
  const warnings = (manifest.kind === 'channel' ? [] : problems).map(
    ({ message }) => `warning: the settings have no complete defaults: ${message}`,
  );
  const { ok, report } = await tryBot(sandbox, { manifest, bundle, config });
  return { ok, report: [...warnings, ...report] };
}

async function tryBot(sandbox: Sandbox, subject: Subject): Promise<CheckReport> {
  const loaded = await sandbox.run(requestFor(subject, noEvent));
  if (loaded.outcome !== 'no_handler') return { ok: false, report: [`error: loading: ${describe(loaded)}`] };
  const handlers = loaded.handlers ?? [];
  const report = compareHandlers(subject.manifest, handlers);
  const tried = handlers.filter((name) => subject.manifest.events.some((event) => event === name));
  // Handlers of hooks and channels need requests and messages, of which there is no sample.
  let ok = tried.length > 0 || calledOtherwise(subject.manifest).some((name) => handlers.includes(name));
  const scheduled = new Map<string, ScheduleAction>();
  // Calls that the bot schedules are what its handler of `schedule` knows to handle: that one is tried last.
  for (const handler of tried.toSorted((one, other) => Number(one === calls) - Number(other === calls))) {
    for (const event of handler === calls && scheduled.size > 0
      ? callsOf(scheduled)
      : [sampleOf(subject.manifest, handler)]) {
      const result = await tryHandler(sandbox, subject, { handler, event, isSample: scheduled.size === 0 });
      ok &&= result.ok;
      report.push(...result.report);
      for (const action of result.scheduled) scheduled.set(action.name, action);
    }
  }
  return { ok, report };
}

const sampleAccount = { id: 1, name: 'Sample account' };

function sampleOf({ kind }: Manifest, handler: string): Record<string, unknown> {
  if (kind === 'bot' || handler === calls) return sampleEvents[handler as keyof typeof sampleEvents];
  return JSON.parse(sampleBody(handler as EventName, 'account', sampleAccount)) as Record<string, unknown>;
}

function callsOf(scheduled: ReadonlyMap<string, ScheduleAction>): Record<string, unknown>[] {
  return [...scheduled.values()].map(({ name, data }) => ({ ...sampleEvents.schedule, name, data }));
}

function requestFor(
  { manifest, bundle, config }: Subject,
  handler: string,
  event: Record<string, unknown> = {},
): RunRequest {
  const { limits, permissions } = manifest;
  const history = permissions.history > 0 ? { history: [] } : {};
  const base = { owner: nobody, bundle, event, handler, config, seed: sampleSeed, now: sampleNow, limits, permissions };
  return { ...base, ...history };
}

function describe({ outcome, actions, error }: RunResult): string {
  if (outcome !== 'ok') return `${outcome}${error === undefined ? '' : `: ${error}`}`;
  return `ok, ${actions.map(({ type }) => type).join(', ') || 'no action'}`;
}

/** Handlers that are called without an entry in `events`. */
function calledOtherwise({ kind, hooks }: Manifest): string[] {
  const ofHooks = Object.keys(hooks).length > 0 ? ['hook_received'] : [];
  return kind === 'channel' ? [...ofHooks, 'send'] : ofHooks;
}

function compareHandlers(manifest: Manifest, handlers: readonly string[]): string[] {
  const events: readonly string[] = [...manifest.events, ...calledOtherwise(manifest)];
  const called = manifest.kind === 'channel' ? [...events, 'check'] : events;
  const unheard = handlers.filter((name) => !called.includes(name));
  const unanswered = events.filter((name) => !handlers.includes(name));
  return [
    `handlers: ${handlers.join(', ') || 'none'}`,
    ...unheard.map((name) => `warning: the handler ${name} is never called: plugin.json does not list the event`),
    ...unanswered.map((name) => `warning: plugin.json lists ${name}, but there is no handler for it`),
  ];
}

interface Trial {
  handler: string;
  event: Record<string, unknown>;
  /** Whether the event is made up: the data of a schedule is the bot's own, and a sample has none. */
  isSample: boolean;
}

/** Runs a handler twice on an event: outcome and actions must be the same. */
async function tryHandler(
  sandbox: Sandbox,
  subject: Subject,
  trial: Trial,
): Promise<CheckReport & { scheduled: ScheduleAction[] }> {
  const { handler, isSample } = trial;
  const { first, asked } = await runOffline(sandbox, subject, trial);
  const { first: second } = await runOffline(sandbox, subject, trial);
  const isUnfair = first.outcome === 'threw' && handler === calls && isSample;
  const report = [
    `${isUnfair ? 'warning: ' : ''}${handler} on a sample event: ${describe(first)}`,
    ...(isUnfair ? ['warning: the sample of a schedule has no data: write a test that plays yours'] : []),
    ...detailsOf(first),
  ];
  const unanswered = asked.map(
    (what) => `warning: ${handler} asked for ${what}: nobody answers here; write a test that scripts the answer`,
  );
  const isSame = first.outcome === second.outcome && JSON.stringify(first.actions) === JSON.stringify(second.actions);
  if (!isSame) report.push(`error: ${handler} gave something else when it was run again: ${describe(second)}`);
  // A bot that needs an answer may well fail without one.
  const isFine = first.outcome === 'ok' || (first.outcome === 'threw' && asked.length > 0) || isUnfair;
  const scheduled = first.actions.filter((action): action is ScheduleAction => action.type === 'schedule');
  return { ok: isFine && isSame, report: [...report, ...unanswered], scheduled };
}

async function runOffline(sandbox: Sandbox, subject: Subject, { handler, event }: Trial) {
  const { hostCalls, asked } = openOffline(subject.manifest.permissions, sampleNow);
  const first = await sandbox.run({ ...requestFor(subject, handler, event), hostCalls });
  return { first, asked: asked() };
}

/** The actions of a run and its log, a line each. */
function detailsOf({ actions, logs }: RunResult): string[] {
  return [
    ...actions.map(({ type, ...fields }) => `  ${type} ${JSON.stringify(fields)}`),
    ...logs.map(
      ({ level, message, fields }) => `  log ${level}: ${message}${fields ? ` ${JSON.stringify(fields)}` : ''}`,
    ),
  ].map(printable);
}
