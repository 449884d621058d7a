import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import { runBounds } from '../run.ts';

/** Exports of isolate/bootstrap.ts. */
interface IsolateEntries {
  start: (code: string, input: string, tell: (line: string) => void) => void;
  resume: (answers: string) => void;
  collect: () => string;
}

// JavaScript, unless it could not be written (see stripped-code.ts). Each file comes behind those that it imports.
const extension = extname(import.meta.filename);
const folder = new URL('../isolate/', import.meta.url);
const files = ['view', 'harden', 'context', 'endings', 'encoding', 'uuid', 'globals', 'bootstrap'];

// Uses the functions that most bots use.
const usualBot = `({ default: { on: { async message_created(ctx) {
  ctx.log.info('greets', { to: ctx.contact.name });
  await ctx.call('anything', {});
  ctx.reply('Hello');
  ctx.label.add('greeted');
} } } })`;
const usualRun = {
  event: { id: 1, content: 'Hi', sender: { id: 1, type: 'contact', name: 'Customer' }, conversation: { id: 1 } },
  handler: 'message_created',
  config: {},
  withheld: ['email'],
  seed: 1,
  now: 0,
  run: 'first',
  bounds: runBounds,
};

/** Where errors say that they come from our own code. */
export const isolateFilename = `switchboard:bootstrap${extension}`;
/** The files of isolate/ as one script, whose value is an IsolateEntries. A script, because V8 takes no compiled modules here. */
export const isolateScript = `(() => { "use strict"; ${files.map(asFunction).join('\n')}\nreturn file_bootstrap; })()`;
/** Compiled by V8, with the functions that any run calls: compiling them takes longer than most bots run. */
export const compiledScript = await compile();

/** Returns a file of isolate/ as a statement: `file_NAME` holds what it exports. Its other names are its own, as in a module. */
export function asFunction(name: string): string {
  const written = readFileSync(new URL(`${name}${extension}`, folder), 'utf8');
  const text = extension === '.ts' ? stripTypeScriptTypes(written) : written;
  const exported = [...text.matchAll(/^export function (\w+)/gm)].map(([, own]) => own);
  const inside = text
    .replaceAll(/^import (\{[^}]*\}) from '\.\/(\w+)\.[jt]s';/gm, 'const $1 = file_$2;')
    .replaceAll(/^export (?=function)/gm, '');
  return `const file_${name} = (() => {${inside}\nreturn { ${exported.join(', ')} }; })();`;
}

// V8 compiles a function when it is called first, and keeps in its cache those that were. So a bot of our own is run, in a context that nothing else gets.
async function compile(): Promise<ArrayBuffer> {
  const script = new Script(isolateScript, { filename: isolateFilename });
  const { start, resume, collect } = script.runInContext(createContext({})) as IsolateEntries;
  start(usualBot, JSON.stringify(usualRun), () => undefined);
  await turn();
  collect();
  resume('[{"id":1,"value":null}]');
  await turn();
  if (!collect().startsWith('{"state":"done","outcome":"ok"')) throw new Error('Our own bot does not run');
  const cache = script.createCachedData();
  return new Uint8Array(cache).buffer;
}
