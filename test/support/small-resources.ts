import type { EventCase } from './event-cases.ts';
import type { Maker } from './maker.ts';
import type { Prepare } from './operations.ts';

type Fields = Record<string, unknown>;

/** What the tests' tables need to know of a small resource. */
interface SmallResource {
  /** Roles that may read it. */
  readers: 'agents' | 'administrators';
  /** Roles that may create, change and delete it; administrators by default. */
  writers?: 'agents' | 'administrators';
  /** A body that creates one, with its texts from `maker.text`. */
  make: (maker: Maker) => Fields;
  /** A body that changes one. */
  change: (maker: Maker) => Fields;
  /** The property that must be unique in an account, if there is one. */
  unique?: string;
  /** The property by which the list is ordered. */
  orderedBy: string;
  /** A body that is refused. */
  refused: readonly Fields[];
}

/**
 * By the word of its path: listed page by page, read, created, changed and deleted, and nothing is said of it. Whoever adds
 * such a resource adds a row, and all that is tested of every operation is tested of its operations too.
 */
export const smallResources: Readonly<Record<string, SmallResource>> = {
  sla_policies: {
    readers: 'agents',
    make: (maker) => ({ name: maker.text('policy'), first_response_seconds: 3600, resolution_seconds: 7200 }),
    change: (maker) => ({ name: maker.text('renamed') }),
    unique: 'name',
    orderedBy: 'name',
    refused: [{ name: ' ' }, { first_response_seconds: 0 }, { resolution_seconds: 'soon' }],
  },
  canned_responses: {
    readers: 'agents',
    writers: 'agents',
    make: (maker) => ({ short_code: maker.text('code'), content: maker.text('content') }),
    change: (maker) => ({ short_code: maker.text('renamed'), content: maker.text('rewritten') }),
    unique: 'short_code',
    orderedBy: 'short_code',
    refused: [
      { short_code: ' ' },
      { short_code: 'x'.repeat(256) },
      { content: '' },
      { content: ' \n' },
      { content: 'x'.repeat(20_001) },
    ],
  },
  custom_attribute_definitions: {
    readers: 'agents',
    make: (maker) => ({
      attribute_key: maker.text('key'),
      attribute_model: 'contact_attribute',
      attribute_display_name: maker.text('attribute'),
      attribute_description: maker.text('description'),
      attribute_display_type: 'list',
      attribute_values: [maker.text('value')],
    }),
    change: (maker) => ({
      attribute_display_name: maker.text('renamed'),
      attribute_display_type: 'text',
      attribute_values: [],
    }),
    unique: 'attribute_key',
    orderedBy: 'attribute_key',
    refused: [
      { attribute_key: ' ' },
      { attribute_model: 'inbox_attribute' },
      { attribute_display_type: 'picture' },
      { attribute_values: 'one' },
    ],
  },
  articles: {
    readers: 'agents',
    make: (maker) => ({
      title: maker.text('article'),
      content: `${maker.text('introduction')}\n\n## Details\n\n${maker.text('details')}`,
      url: `https://help.example.com/${encodeURIComponent(maker.text('page'))}`,
      language: 'en',
      tags: [maker.text('tag')],
      published: true,
    }),
    change: (maker) => ({ content: maker.text('rewritten'), language: 'pt-BR', tags: [], published: false }),
    unique: 'url',
    orderedBy: 'title',
    refused: [
      { title: ' ' },
      { content: '' },
      { url: 'ftp://help.example.com' },
      { language: 'English' },
      { tags: ['one', 'one'] },
      { published: 'yes' },
    ],
  },
};

const rows = Object.entries(smallResources);

function tableOf<Value>(entriesOf: (kind: string, resource: SmallResource) => Record<string, Value>) {
  return Object.assign({}, ...rows.map(([kind, resource]) => entriesOf(kind, resource))) as Record<string, Value>;
}

/** Creates one of the kind; returns its id. */
export function makeSmall(maker: Maker, kind: string): Promise<number> {
  return maker.post(kind, smallResources[kind]!.make(maker));
}

/** Creates one of each kind; returns their ids by kind. */
export async function makeEachSmall(maker: Maker): Promise<Record<string, number>> {
  const ids: Record<string, number> = {};
  for (const [kind] of rows) ids[kind] = await makeSmall(maker, kind);
  return ids;
}

/** A request to each of their operations. */
export const smallOperations = tableOf<Prepare>((kind, { make, change }) => ({
  [`GET ${kind}`]: () => ({}),
  [`GET ${kind}/:id`]: ({ small }) => ({ at: { id: small[kind]! } }),
  [`POST ${kind}`]: ({ maker }) => ({ body: make(maker) }),
  [`PATCH ${kind}/:id`]: async ({ maker }) => ({ at: { id: await makeSmall(maker, kind) }, body: change(maker) }),
  [`DELETE ${kind}/:id`]: async ({ maker }) => ({ at: { id: await makeSmall(maker, kind) }, body: {} }),
}));

/** The events of their operations: none. */
export const smallEvents = tableOf<EventCase[]>((kind, { unique }) => ({
  [`POST ${kind}`]: [{ says: [], again: unique ? 'refused' : 'nothing' }],
  [`PATCH ${kind}/:id`]: [{ says: [], again: 'nothing' }],
  [`DELETE ${kind}/:id`]: [{ says: [], again: 'refused' }],
}));

/** Who gets which status, in the words of the matrix. */
export const smallMatrix = tableOf<string>((kind, { readers, writers }) => {
  const others = '403 403  404 404 404  401 401 401 401';
  const read = readers === 'agents' ? `200  200 200 200  ${others}` : `200  403 403 403  ${others}`;
  const written = (status: number) =>
    writers === 'agents' ? `${status}  ${status} ${status} ${status}  ${others}` : `${status}  403 403 403  ${others}`;
  return {
    [`GET ${kind}`]: read,
    [`GET ${kind}/:id`]: read,
    [`POST ${kind}`]: written(201),
    [`PATCH ${kind}/:id`]: written(200),
    [`DELETE ${kind}/:id`]: written(200),
  };
});
