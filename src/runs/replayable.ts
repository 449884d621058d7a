import type { RecordedRun } from '../domain/bots/runs.ts';
import { ApiError } from '../errors.ts';
import { hashOf } from '../packages/archive/hash.ts';
import { parseManifestText, type Manifest } from '../packages/manifest/manifest.ts';
import { bundleOf, partOf } from '../packages/manifest/parts.ts';
import type { Recording, Repeater } from './repeat.ts';

/** A recorded run, and the manifest (text) and code of its hash; null when they are not stored. */
export interface Replayable {
  account: number;
  run: RecordedRun;
  stored: { manifest: string; code: string } | null;
}

const erased = 'What this run got and did was deleted, together with a message: it cannot be repeated';

/** Reads what repeating a run needs. Errors: 409 when code or record are not there, or not as they were. */
export function readReplayable({ account, run, stored }: Replayable): {
  manifest: Manifest;
  repeater: Repeater;
  recording: Recording;
} {
  if (run.isIncomplete) throw notReplayable('The request that this run handled is deleted: it cannot be repeated');
  if (run.erasedAt) throw new ApiError(409, 'run_erased', erased);
  return { ...repeaterOf(run, stored), recording: recordingOf(account, run) };
}

function repeaterOf(
  { bundleHash, part, permissions, limits }: RecordedRun,
  stored: Replayable['stored'],
): { manifest: Manifest; repeater: Repeater } {
  if (!stored) throw notReplayable('The code of this run is not stored: it cannot be repeated');
  const { manifest: text, code } = stored;
  if (hashOf(text, code) !== bundleHash) throw notReplayable('The stored code is not that of this run: it was changed');
  const manifest = partOf(parseManifestText(text), part);
  if (!manifest) throw damaged();
  const recorded = { permissions: permissions ?? manifest.permissions, limits: limits ?? manifest.limits };
  const repeater = { bundle: bundleOf({ hash: bundleHash, code }, manifest), ...recorded };
  if (!isRepeater(repeater)) throw damaged();
  return { manifest, repeater };
}

function recordingOf(account: number, run: RecordedRun): Recording {
  const { botId, event, config, seed, clock, calls } = run;
  const recording = { owner: { account, bot: botId }, event, config, seed, now: clock.getTime(), calls };
  if (!isRecording(recording)) throw damaged();
  return recording;
}

function isRecording(value: object): value is Recording {
  const { config, calls } = value as { config: unknown; calls: unknown };
  return isObject(config) && Array.isArray(calls) && calls.every((call) => isObject(call) && isText(call['name']));
}

const lists = ['conversation', 'contact', 'secrets'];
const longestMs = 60_000;
const largestHeapMb = 128;

function isRepeater(value: object): value is Repeater {
  const { permissions, limits } = value as { permissions: unknown; limits: unknown };
  if (!isObject(permissions) || !isObject(limits)) return false;
  const { history } = permissions;
  const { sliceMs, wallMs, heapMb } = limits;
  return (
    lists.every((name) => Array.isArray(permissions[name])) &&
    isWithin(history, 0, Infinity) &&
    isWithin(sliceMs, 1, longestMs) &&
    isWithin(wallMs, 1, longestMs) &&
    isWithin(heapMb, 8, largestHeapMb)
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}

function damaged(): ApiError {
  return notReplayable('The record of this run is damaged: it cannot be repeated');
}

function notReplayable(message: string): ApiError {
  return new ApiError(409, 'not_replayable', message);
}
