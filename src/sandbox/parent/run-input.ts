import { runBounds } from '../run.ts';
import type { RunRequest } from '../run.ts';
import { withoutMap } from '../source-map.ts';
import { viewEvent, withheldFields } from './event-view.ts';

/** Why a request is too large to be run; null when it is not. */
export function findOversize(request: RunRequest, input: string): string | null {
  const { code } = request.bundle;
  if (code.length > runBounds.bundleChars && withoutMap(code).length > runBounds.bundleChars)
    return 'The bundle is too large';
  return input.length > runBounds.inputChars ? 'The event is too large' : null;
}

/** The request as the JSON text that `start` of isolate/bootstrap.ts parses. */
export function inputOf(request: RunRequest): string {
  const { bundle, event, handler, config, history, seed, now, permissions } = request;
  const run = `${bundle.hash.slice(0, 12)}-${seed}`;
  const view = viewEvent(event, permissions);
  const withheld = withheldFields(permissions);
  return JSON.stringify({ event: view, handler, config, history, withheld, seed, now, run, bounds: runBounds });
}
