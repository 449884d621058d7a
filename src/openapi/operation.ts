import { documents } from '../schemas.ts';
import { refusals } from './errors.ts';
import { nameOperation } from './names.ts';
import type { ComponentSchemas, Json } from './schemas.ts';
import { isIdParameter, parameterNames } from '../http/route/record-route.ts';
import { factsOf } from '../http/route/admission/roles.ts';
import { bodyTypes, formType } from '../http/route/body/read-body.ts';
import type { Contract, Route } from '../http/route/route.ts';
import { traitsOf, type Traits } from '../http/route/traits.ts';

/** An OpenAPI operation object, and its tag, which the caller collects. */
export function describeOperation(
  route: Route,
  routes: readonly Route[],
  schemas: ComponentSchemas,
): { operation: Json; tag: string } {
  const { contract, path } = route;
  const traits = traitsOf(route, routes);
  const { told, security, door } = factsOf(contract.role);
  const takesTickets = contract.stream && door === 'account';
  const { operationId, tag } = nameOperation(route, routes);
  const parameters = [
    ...pathParameters(path, schemas),
    ...queryParameters(contract, schemas),
    ...headerParameters(traits),
    ...(takesTickets ? [reference('parameters', 'LastEventId')] : []),
  ];
  const description = [contract.description, told].filter((text) => text !== undefined);
  const operation = {
    operationId,
    tags: [tag],
    summary: contract.summary,
    description: description.join('\n\n'),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(contract, schemas),
    responses: responses(contract, traits, schemas),
    security: takesTickets ? [...security, { ticket: [] }] : security,
  };
  return { operation, tag };
}

function pathParameters(path: string, schemas: ComponentSchemas): Json[] {
  return parameterNames(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: isIdParameter(name) ? schemas.rewrite({ $ref: '#/$defs/id' }, 'common') : { type: 'string', minLength: 1 },
  }));
}

function queryParameters({ query }: Contract, schemas: ComponentSchemas): Json[] {
  if (!query) return [];
  const { properties = {}, required = [] } = documents.get(query) as { properties?: Json; required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as Json;
    return {
      name,
      in: 'query',
      ...(description === undefined ? {} : { description }),
      required: required.includes(name),
      schema: schemas.rewrite(schema, query),
    };
  });
}

function headerParameters({ keyed, record, tagged }: Traits): Json[] {
  const names = [keyed && 'IdempotencyKey', record !== null && 'IfMatch', tagged && 'IfNoneMatch'];
  return names.filter((name) => name !== false).map((name) => reference('parameters', name));
}

function reference(kind: 'parameters' | 'headers' | 'responses', name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

function requestBody(contract: Contract, schemas: ComponentSchemas): Json {
  if (!contract.body) return {};
  const content = bodyTypes(contract).map((type) => [type, { schema: bodySchema(type, contract, schemas) }] as const);
  return { requestBody: { required: true, content: Object.fromEntries(content) } };
}

function bodySchema(type: string, { body, withFiles }: Contract, schemas: ComponentSchemas): Json {
  const named = type === formType && withFiles ? [body, withFiles] : [body];
  const references = named.flatMap((name) => (name ? [schemas.refer(name)] : []));
  return references.length > 1 ? { anyOf: references } : (references[0] ?? {});
}

function responses(contract: Contract, traits: Traits, schemas: ComponentSchemas): Json {
  const refused = traits.errors.map((status) => {
    const refusal = refusals[status];
    if (!refusal) throw new Error(`No description of status ${status}`);
    return [status, reference('responses', refusal.name)] as const;
  });
  const unchanged = traits.tagged ? { 304: reference('responses', 'NotModified') } : {};
  const answered = success(contract, traits, schemas);
  const already = contract.unchanged ? { 200: answered } : {};
  return { ...already, [contract.status ?? 200]: answered, ...unchanged, ...Object.fromEntries(refused) };
}

function success(contract: Contract, traits: Traits, schemas: ComponentSchemas): Json {
  const headers = [
    'X-Request-Id',
    ...(traits.tagged ? ['ETag'] : []),
    ...(traits.paged ? ['Link'] : []),
    ...(traits.keyed ? ['Idempotency-Replayed'] : []),
    ...(traits.authenticated ? ['RateLimit', 'RateLimit-Policy'] : []),
  ];
  const { description = 'Success.' } = documents.get(contract.reply) as { description?: string };
  return {
    description,
    headers: headerReferences(headers),
    content: {
      [contract.stream ? 'text/event-stream' : 'application/json']: { schema: schemas.refer(contract.reply) },
      ...(answersPage(contract) ? { 'text/html': { schema: { type: 'string' } } } : {}),
    },
  };
}

function headerReferences(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]));
}

// Operations that people open from a link may answer an HTML page.
function answersPage({ reply }: Contract): boolean {
  const { anyOf = [], type } = documents.get(reply) as { anyOf?: { $ref?: string }[]; type?: unknown };
  return type === 'string' || anyOf.some(({ $ref }) => $ref?.endsWith('page.json'));
}
