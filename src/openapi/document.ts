import { catalog, payloadSchema, type Audience, type EventName } from '../events/catalog.ts';
import { documents, type Shape } from '../schemas.ts';
import { describeComponents } from './components.ts';
import { describeOperation } from './operation.ts';
import { ComponentSchemas, pascal, type Json } from './schemas.ts';
import type { Route } from '../http/route/route.ts';

const description = `Conversations with customers, and the bots that take part in them.

Every request carries an access token in the header \`api_access_token\` (or \`Authorization: Bearer\`). Bodies are JSON.
Identifiers are numbers, times are Unix seconds. Whatever is refused is answered with \`{"error": …, "code": …}\`.`;

const audiences: Record<Audience, { tag: string; told: string }> = {
  account: { tag: 'Events for account webhooks', told: 'Sent to the webhooks of the account that subscribe to it.' },
  bot: { tag: 'Events for agent bots', told: "Sent to the URL of the conversation's webhook bot." },
};

const deliveryHeaders = [
  ['webhook-id', 'The same in every attempt of one delivery: for telling repetitions.'],
  ['webhook-timestamp', 'Unix time of the attempt in seconds.'],
  ['webhook-signature', 'Signatures by Standard Webhooks, `v1,…`; two while a secret is being replaced.'],
  ['webhook-attempt', 'The number of the attempt, from 1.'],
  ['switchboard-trace', 'Names the event: repeat it in calls that react to the event, so that loops end.'],
];

/** Every event, once for each of its audiences. */
export function listEvents(): [EventName, Audience][] {
  return Object.entries(catalog).flatMap(([name, entry]) =>
    (['account', 'bot'] as const)
      .filter((audience) => audience in entry)
      .map((audience) => [name as EventName, audience] as [EventName, Audience]),
  );
}

// `/contacts/:id` → `/contacts/{id}`
function templated(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

type Tag = Json & { name: string; description: string };

function describePaths(
  routes: readonly Route[],
  schemas: ComponentSchemas,
): { paths: Record<string, Json>; tags: Tag[] } {
  const paths: Record<string, Json> = {};
  const tags = new Map<string, string>();
  for (const route of routes) {
    const { operation, tag } = describeOperation(route, routes, schemas);
    const item = (paths[templated(route.path)] ??= {});
    item[route.method.toLowerCase()] = operation;
    if (!tags.has(tag)) tags.set(tag, describeTag(route));
  }
  return { paths, tags: Array.from(tags, ([name, told]) => ({ name, description: told })) };
}

// Operations are described by the record or the list that the first of them answers, or else by that operation.
function describeTag({ contract: { reply, record, paged, summary } }: Route): string {
  const described = record || paged || reply.endsWith('-list') ? documents.get(reply)?.['description'] : undefined;
  return typeof described === 'string' ? described : `${summary}.`;
}

/** The published contract, OpenAPI 3.1, made from the route table, the event catalogue and their schemas. */
export function describeApi(routes: readonly Route[], version: string): Shape<'resources/openapi'> {
  const schemas = new ComponentSchemas();
  const { paths, tags } = describePaths(routes, schemas);
  const webhooks = describeEvents(schemas);
  const document = { paths, webhooks };
  return {
    openapi: '3.1.0',
    info: { title: 'Switchboard', version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags: [...tags, ...Object.values(audiences).map(({ tag, told }) => ({ name: tag, description: told }))],
    ...document,
    components: describeComponents(document, schemas),
  };
}

function describeEvents(schemas: ComponentSchemas): Json {
  const events: Json = {};
  for (const [name, audience] of listEvents())
    events[`${audience}_${name}`] = { post: describeEvent(name, audience, schemas) };
  return events;
}

function describeEvent(name: EventName, audience: Audience, schemas: ComponentSchemas): Json {
  return {
    operationId: `receive${pascal(audience)}${pascal(name)}`,
    tags: [audiences[audience].tag],
    summary: `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`,
    description: audiences[audience].told,
    parameters: deliveryHeaders.map(([header, told]) => ({
      name: header,
      in: 'header',
      description: told,
      required: true,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemas.refer(payloadSchema(name, audience)) } },
    },
    responses: {
      '2XX': { description: 'Received. Anything else, or nothing within 10 seconds, is tried again later.' },
      410: { description: 'The receiver is gone: nothing more is sent to it.' },
    },
    security: [],
  };
}
