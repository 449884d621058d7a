import { boundsOf, runBounds } from '../run.ts';
import type { RunRequest } from '../run.ts';
import { withoutMap } from '../source-map.ts';
import { viewEvent, withheldFields } from './event-view.ts';

/** Why a request is too large to be run; null when it is not. */
export function findOversize(request: RunRequest, input: string): string | null {
  const { code } = request.bundle;
  if (code.length > runBounds.bundleChars && withoutMap(code).length > runBounds.bundleChars)
    return 'The bundle is too large';
  if (input.length <= runBounds.inputChars) return null;
  return input.length - hookChars(request.event) > runBounds.inputChars ? 'The event is too large' : null;
}

// The door of hooks has bounded the body; in JSON a byte may become six characters.
function hookChars(event: unknown): number {
  const { hook } = event as { hook?: { text?: unknown } };
  return typeof hook?.text === 'string' ? JSON.stringify(hook.text).length : 0;
}

/** The request as the JSON text that `start` of isolate/bootstrap.ts parses. */
export function inputOf(request: RunRequest): string {
  const { bundle, event, handler, config, history, seed, now, permissions } = request;
  const bounds = boundsOf(permissions);
  const run = `${bundle.hash.slice(0, 12)}-${seed}`;
  const view = viewEvent(event, permissions);
  const withheld = withheldFields(permissions);
  const { part } = bundle;
  return JSON.stringify({ event: view, handler, config, history, withheld, seed, now, run, bounds, part });
}
