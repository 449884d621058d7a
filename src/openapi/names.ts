import { documents } from '../schemas.ts';
import { pascal } from './schemas.ts';
import { anonymous } from '../http/route/record-route.ts';
import type { Route } from '../http/route/route.ts';

/** What a reader of the documentation calls an operation. */
export interface OperationNames {
  operationId: string;
  summary: string;
  tag: string;
}

/** A word of the path, and whether one of its kind follows: `contacts/:id`. */
interface Step {
  noun: string;
  chosen: boolean;
}

const root = /^\/(?:(platform|public)\/)?(?:api\/v\d+\/)?(?:accounts\/:account_id\/)?/;
const verbs = new Set(
  `accept approve assign backtest cancel check disable enable import install mark publish quarantine recover reject
  replay resend reset retry revoke rotate search send set test toggle uninstall update`.split(/\s+/),
);

const joints = new Map([
  ['add', ' to '],
  ['remove', ' from '],
]);

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

function spaced(noun: string): string {
  return noun
    .replaceAll('_', ' ')
    .replace(/\bsla\b/, 'SLA')
    .replace(/\bcsat\b/, 'CSAT');
}

function one(noun: string): string {
  const text = spaced(singular(noun));
  return `${/^(?:[aeio]|SLA)/.test(text) ? 'an' : 'a'} ${text}`;
}

function answersList({ contract }: Route): boolean {
  const { type, properties = {} } = (documents.get(contract.reply) ?? {}) as { type?: string; properties?: object };
  return type === 'array' || 'payload' in properties || 'data' in properties;
}

/** What is done to what: `reset`, `access_token`. */
interface Deed {
  verb: string;
  object: string;
  /** How the object is told in a sentence. */
  told: string;
}

// Where members can be removed from a set, the other methods add to it and replace it.
function isSet({ path }: Route, routes: readonly Route[]): boolean {
  return routes.some((other) => other.method === 'DELETE' && other.path === path);
}

function deedOnOne({ method }: Route, noun: string): Deed {
  const verb = { GET: 'get', POST: 'update', PATCH: 'update', DELETE: 'delete' }[method];
  return { verb, object: singular(noun), told: one(noun) };
}

function postOf({ contract }: Route, noun: string, isPartOfSet: boolean): Deed {
  const [verb = '', ...words] = noun.split('_');
  const object = words.join('_');
  if (verbs.has(verb)) return { verb, object, told: object === '' ? '' : `the ${spaced(object)}` };
  if (contract.status === 201) return { verb: 'create', object: singular(noun), told: one(noun) };
  return isPartOfSet
    ? { verb: 'add', object: noun, told: spaced(noun) }
    : { verb: 'set', object: noun, told: `the ${spaced(noun)}` };
}

function deedOf(route: Route, { noun, chosen }: Step, routes: readonly Route[]): Deed {
  if (chosen) return deedOnOne(route, noun);
  if (noun === 'search') return { verb: 'search', object: '', told: '' };
  const the = `the ${spaced(noun)}`;
  const isPartOfSet = isSet(route, routes);
  return {
    GET: { verb: answersList(route) ? 'list' : 'get', object: noun, told: the },
    POST: postOf(route, noun, isPartOfSet),
    PATCH: { verb: isPartOfSet ? 'replace' : 'update', object: noun, told: the },
    DELETE: { verb: 'remove', object: noun, told: spaced(noun) },
  }[route.method];
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// `messages` under a conversation are a subject of their own, since some operation names one of them.
function tagOf(path: string, steps: readonly Step[], routes: readonly Route[]): string {
  const [start = '', scope = ''] = root.exec(path) ?? [];
  if (start === '/' && steps.length === 1 && !steps[0]?.chosen) return 'Service';
  const paths = routes.map((route) => anonymous(route.path));
  const own = steps.findLast(({ noun }) => {
    const [before = ''] = anonymous(path).split(`/${noun}`);
    return paths.some((other) => other.startsWith(`${before}/${noun}/:`));
  });
  return capitalised(`${scope} ${spaced((own ?? steps[0])?.noun ?? '')}`.trimStart());
}

function owner({ noun, chosen }: Step): string {
  return chosen ? one(noun) : `the ${spaced(noun)}`;
}

function qualifier({ noun, chosen }: Step): string {
  return pascal(chosen ? singular(noun) : noun);
}

function pascalWithin(scope: string, verb: string): string {
  return scope === '' ? verb : scope + pascal(verb);
}

/** Derives an operation's names from its method and path; the contract's own summary wins. */
export function nameOperation(route: Route, routes: readonly Route[]): OperationNames {
  const steps = readSteps(route.path);
  const last = steps.at(-1) ?? { noun: 'service', chosen: false };
  const deed = deedOf(route, last, routes);
  const parents = steps.slice(0, -1).filter(({ noun }) => !deed.object.startsWith(`${singular(noun)}_`));
  const owners = deed.verb === 'search' ? parents.map(({ noun }) => spaced(noun)) : parents.toReversed().map(owner);
  const whole = [deed.told, ...owners].filter((text) => text !== '').join(joints.get(deed.verb) ?? ' of ');
  const told = deed.verb === 'list' && parents.length === 0 ? spaced(deed.object) : whole;
  const scope = root.exec(route.path)?.[1] ?? '';
  return {
    operationId: pascalWithin(scope, deed.verb) + parents.map(qualifier).join('') + pascal(deed.object),
    summary: route.contract.summary ?? capitalised(`${deed.verb} ${told}`),
    tag: tagOf(route.path, steps, routes),
  };
}
