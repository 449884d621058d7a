import { pascal } from './schemas.ts';
import { anonymous } from '../http/route/record-route.ts';
import type { Route } from '../http/route/route.ts';

/** A word of the path; `chosen` where a parameter follows it: `contacts/:id`. */
interface Step {
  noun: string;
  chosen: boolean;
}

const root = /^\/(?:(platform|public)\/)?(?:api\/v\d+\/)?(?:accounts\/:account_id\/)?/;
// Words with which the name of an action begins: `toggle_status`.
const verbs = new Set(
  `accept approve assign backtest cancel check disable enable filter import install mark publish quarantine recover reject
  replay resend reset retry revoke rotate search send set test toggle uninstall update`.split(/\s+/),
);

// `…/inboxes/:id/members` are inbox members, too.
const otherNames: Readonly<Record<string, string>> = {
  inbox_member: 'members_of_inbox',
  inbox_members: 'members_of_inbox',
};

/** The name of an operation for generated clients, and its tag; derived from its method, path and status. */
export function nameOperation(route: Route, routes: readonly Route[]): { operationId: string; tag: string } {
  const steps = readSteps(route.path);
  const [verb, object] = deedOf(route, steps.at(-1) ?? { noun: 'service', chosen: false }, routes);
  const parents = steps.slice(0, -1).filter(({ noun }) => !object.startsWith(`${singular(noun)}_`));
  const scope = root.exec(route.path)?.[1] ?? '';
  const told = otherNames[object] ?? object;
  const owners = parents.map(({ noun, chosen }) => pascal(chosen ? singular(noun) : noun)).join('');
  return {
    operationId: (scope === '' ? verb : scope + pascal(verb)) + owners + pascal(told),
    tag: tagOf(route.path, steps, routes),
  };
}

function readSteps(path: string): Step[] {
  const steps: Step[] = [];
  for (const word of path.replace(root, '').split('/')) {
    const last = steps.at(-1);
    if (!word.startsWith(':')) steps.push({ noun: word.replace(/^\W+/, ''), chosen: false });
    else if (last) last.chosen = true;
  }
  return steps;
}

function singular(noun: string): string {
  if (noun.endsWith('ies')) return `${noun.slice(0, -3)}y`;
  if (/(?:x|ss|sh|ch)es$/.test(noun)) return noun.slice(0, -2);
  return /[^s]s$/.test(noun) ? noun.slice(0, -1) : noun;
}

type Deed = [verb: string, object: string];

function deedOf(route: Route, { noun, chosen }: Step, routes: readonly Route[]): Deed {
  const { method, path, contract } = route;
  if (chosen) return [{ GET: 'get', POST: 'update', PATCH: 'update', DELETE: 'delete' }[method], singular(noun)];
  if (noun === 'search') return ['search', ''];
  // Where DELETE removes members of a set, POST adds members and PATCH replaces them.
  const isSet = routes.some((other) => other.method === 'DELETE' && other.path === path);
  if (method === 'POST') return postOf(contract.status, noun, isSet);
  const isOne = contract.record || contract.role === 'anyone';
  return [{ GET: isOne ? 'get' : 'list', PATCH: isSet ? 'replace' : 'update', DELETE: 'remove' }[method], noun];
}

function postOf(status: number | undefined, noun: string, isSet: boolean): Deed {
  const [verb = '', ...words] = noun.split('_');
  if (verbs.has(verb)) return [verb, words.join('_')];
  return status === 201 ? ['create', singular(noun)] : [isSet ? 'add' : 'set', noun];
}

// The last noun of the path whose members have a path of their own: `messages` has, under a conversation.
function tagOf(path: string, steps: readonly Step[], routes: readonly Route[]): string {
  const [start = '', scope = ''] = root.exec(path) ?? [];
  if (start === '/' && steps.length === 1 && !steps[0]?.chosen) return 'Service';
  const paths = routes.map((route) => anonymous(route.path));
  const own = steps.findLast(({ noun }) => {
    const [before = ''] = anonymous(path).split(`/${noun}`);
    return paths.some((other) => other.startsWith(`${before}/${noun}/:`));
  });
  const words = `${scope} ${(own ?? steps[0])?.noun ?? ''}`
    .trimStart()
    .replaceAll('_', ' ')
    .replace(/\bsla\b/, 'SLA');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
