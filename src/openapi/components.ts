import { signInCookie } from '../http/route/admission/browser.ts';
import { refusals } from './errors.ts';
import type { ComponentSchemas, Json } from './schemas.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };

const headers: Json = {
  'X-Request-Id': { description: "The request's id: the caller's own, where it sent one.", schema: text },
  ETag: { description: 'Names the state of the record, for If-Match and If-None-Match.', schema: text },
  Link: {
    description: 'Links (RFC 8288) to the first, prev, next and last page, as far as there are such.',
    schema: text,
  },
  'Idempotency-Replayed': {
    description: 'true when the answer is that of an earlier request with the same Idempotency-Key.',
    schema: { const: 'true' },
  },
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: count },
  RateLimit: { description: 'What is left of the quota: `"requests";r=99;t=30`.', schema: text },
  'RateLimit-Policy': { description: 'The quota and its window: `"requests";q=3000;w=60`.', schema: text },
  'X-RateLimit-Limit': { description: 'The quota.', schema: count },
  'X-RateLimit-Remaining': { description: 'What is left of it.', schema: count },
  'X-RateLimit-Reset': { description: 'Unix time in seconds at which it is whole again.', schema: count },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: text },
};

const parameters: Json = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes it safe to send the request again: for 24 hours the same key of the same token gets the same answer, and nothing happens twice.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      "The record's ETag as the caller last read it: if it has changed since, nothing happens and 412 is answered.",
    schema: text,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETags that the caller has: for one that still holds, 304 is answered without a body.',
    schema: text,
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The `id` of the last event that was received, to go on behind it. Browsers send it by themselves.',
    schema: text,
  },
};

const securitySchemes: Json = {
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: 'What `POST …/events/ticket` answered: for one stream, within 30 seconds.',
  },
  contact_token: {
    type: 'apiKey',
    in: 'header',
    name: 'x-contact-token',
    description: 'What opening a session answered for a new contact.',
  },
  api_access_token: { type: 'apiKey', in: 'header', name: 'api_access_token', description: 'Also `api-access-token`.' },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The same token, for clients and proxies that lose the header.',
  },
  sign_in: {
    type: 'apiKey',
    in: 'cookie',
    name: signInCookie,
    description:
      "What signing in set, for the pages of the service itself. No other page can use it. A page that names in `x-signed-in-as` the id of the profile that it was opened by is refused (401 `signed_in_as_another`) when the cookie is another person's by then.",
  },
};

/** The components that the operations of `document` refer to. */
export function describeComponents(document: Json, schemas: ComponentSchemas): Json {
  const used = only(responses(schemas), mentioned(document, 'responses'));
  return {
    schemas: schemas.list(),
    responses: used,
    parameters: only(parameters, mentioned(document, 'parameters')),
    headers: only(headers, mentioned({ document, used }, 'headers')),
    securitySchemes,
  };
}

function responses(schemas: ComponentSchemas): Json {
  const content = { 'application/json': { schema: schemas.refer('resources/error') } };
  const refused = Object.values(refusals).map(({ name, description, headers: told = [] }) => {
    const references = ['X-Request-Id', ...told].map((header) => [header, { $ref: `#/components/headers/${header}` }]);
    return [name, { description, headers: Object.fromEntries(references) as Json, content }] as const;
  });
  return {
    NotModified: {
      description: 'The caller has the present state.',
      headers: { ETag: { $ref: '#/components/headers/ETag' } },
    },
    ...Object.fromEntries(refused),
  };
}

// The names of all components of the kind that the document refers to.
function mentioned(document: Json, kind: string): Set<string> {
  const references = JSON.stringify(document).matchAll(new RegExp(`"#/components/${kind}/([^"]+)"`, 'g'));
  return new Set(Array.from(references, ([, name = '']) => name));
}

function only(all: Json, names: ReadonlySet<string>): Json {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
}
