// Generates schemas/types.ts and the table of docs/configuration.md from the JSON Schemas, and the drawing of the floors
// in ARCHITECTURE.md from test/support/floors.ts, the catalogue of events in docs/webhooks.md, and the operations for web/. `--check` writes nothing and fails if one of them is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';
import { documents, readableDocument } from '../src/schemas.ts';
import { eventExamples, renderExamples } from './event-examples.ts';
import { drawFloors } from '../test/support/floors.ts';
import { renderOperations } from './operations.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const schemas = `${root}schemas/`;

// Works around two limits of the generator: it ignores `unevaluatedProperties`, and it copies the type of a `$ref` that
// has a description or examples instead of naming it.
function forTypes(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  // A property may have the name, too.
  const typed = 'examples' in value && Array.isArray(value.examples) ? { ...value, examples: undefined } : value;
  if ('$ref' in typed && 'description' in typed)
    return { description: typed.description, allOf: [{ $ref: typed.$ref }] };
  if (!('unevaluatedProperties' in typed)) return typed;
  const { unevaluatedProperties, ...rest } = typed;
  return { ...rest, additionalProperties: unevaluatedProperties };
}

function readForTypes({ url }: { url: string }): string {
  const name = url.slice(url.indexOf(schemas) + schemas.length, -'.json'.length);
  const document = readableDocument(name);
  const whole = name.startsWith('shapes/') ? { ...document, unevaluatedProperties: false } : document;
  return JSON.stringify(JSON.parse(JSON.stringify(whole), forTypes));
}

/** Renders an interface with a property per schema document, named by its path: `Schemas['requests/contact.create']`. */
async function renderTypes(): Promise<string> {
  const names = [...documents.keys()].filter((name) => name.includes('/'));
  const files = names.map((name) => `${name}.json`).sort();
  const properties = Object.fromEntries(files.map((file) => [file.replace(/\.json$/, ''), { $ref: file }]));
  const all = { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
  const types = await compile(all as never, 'Schemas', {
    cwd: schemas,
    bannerComment: '// Generated from schemas/**/*.json by `npm run schemas`. Change the schemas, never this file.',
    format: false,
    unknownAny: true,
    ignoreMinAndMaxItems: true,
    declareExternallyReferenced: true,
    $refOptions: { resolve: { file: { order: 1, read: readForTypes } } },
  });
  return `${types.trimEnd()}\n\n${renderSettings()}`;
}

interface Setting {
  description: string;
  type?: 'string' | 'integer' | 'boolean' | 'array';
  enum?: readonly string[];
  default?: string | number | boolean;
  defaultText?: string;
  /** Has a value though the schema has no default: it follows from others. */
  'x-derived'?: true;
}

const settingTypes = { string: 'string', integer: 'number', boolean: 'boolean', array: 'readonly string[]' } as const;

function readSettings(): [string, Setting][] {
  const { properties } = JSON.parse(readFileSync(`${schemas}config.json`, 'utf8')) as {
    properties: Record<string, Setting>;
  };
  return Object.entries(properties);
}

/** The type of the settings as the service has them: null where a setting has neither a value nor a default. */
function renderSettings(): string {
  const members = readSettings().map(([name, setting]) => {
    const key = name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const type = setting.enum?.map((value) => `'${value}'`).join(' | ') ?? settingTypes[setting.type ?? 'string'];
    const hasValue = setting.default !== undefined || setting['x-derived'];
    return `  /** ${setting.description} */\n  readonly ${key}: ${type}${hasValue ? '' : ' | null'};`;
  });
  return `/** The settings of the service by the environment variables of schemas/config.json. */\nexport interface Settings {\n${members.join('\n')}\n}\n`;
}

/** Writes the table of environment variables, a row per property of schemas/config.json. */
function renderConfiguration(page: string): string {
  const rows = readSettings().map(
    ([name, setting]) => `| \`${name}\` | ${setting.description} | ${setting.defaultText ?? setting.default ?? '–'} |`,
  );
  const table = ['| variable | meaning | default |', '|---|---|---|', ...rows].join('\n');
  return page.replace(
    /(<!-- config:start -->\n)[\s\S]*?(\n<!-- config:end -->)/,
    (_, start: string, end: string) => `${start}${table}${end}`,
  );
}

/** Writes the drawing of the floors, from the list that the architecture test checks. */
function renderArchitecture(architecture: string): string {
  const parts = /(<!-- floors:start -->\n)[\s\S]*?(\n<!-- floors:end -->)/;
  return architecture.replace(parts, (_, start: string, end: string) => `${start}${drawFloors()}${end}`);
}

/** Writes the catalogue of events, each with a body made from its schema. */
function renderWebhooks(page: string): string {
  const entries = eventExamples('account').map(({ name, description, body }) =>
    [`### ${name}`, '', description, '', '```json', JSON.stringify(body, null, 2), '```'].join('\n'),
  );
  const parts = /(<!-- events:start -->\n)[\s\S]*?(\n<!-- events:end -->)/;
  return page.replace(parts, (_, start: string, end: string) => `${start}\n${entries.join('\n\n')}\n${end}`);
}

const outputs: [string, (current: string) => Promise<string> | string][] = [
  [`${schemas}types.ts`, renderTypes],
  [`${root}web/shared/operations.ts`, renderOperations],
  [`${root}web/console/pages/activity/event-examples.ts`, renderExamples],
  [`${root}docs/configuration.md`, renderConfiguration],
  [`${root}ARCHITECTURE.md`, renderArchitecture],
  [`${root}docs/webhooks.md`, renderWebhooks],
];

let stale = false;
for (const [path, render] of outputs) {
  const current = readFileSync(path, 'utf8');
  const wanted = await render(current);
  if (wanted === current) continue;
  if (!process.argv.includes('--check')) writeFileSync(path, wanted);
  else {
    stale = true;
    console.error(`${path.slice(root.length)} is stale: run \`npm run schemas\``);
  }
}
if (stale) process.exitCode = 1;
