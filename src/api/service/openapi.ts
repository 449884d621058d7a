import manifest from '../../../package.json' with { type: 'json' };
import { describeApi } from '../../openapi/document.ts';
import { doors } from '../../http/route/admission/doors.ts';
import type { Route } from '../../http/route/route.ts';
import type { Shape } from '../../schemas.ts';

/** The published contract of the route table that `routes` returns; built at the first request. */
export function openapiRoutes(routes: () => readonly Route[]): Route[] {
  let contract: Shape<'resources/openapi'> | null = null;
  return [
    doors.open(
      ['GET', '/openapi.json', 'Get the contract of this API'],
      {
        reply: 'resources/openapi',
        record: true,
        role: 'anyone',
        cacheable: true,
        needsNoDatabase: true,
        description: 'This document: OpenAPI 3.1 with every operation and every event.',
      },
      async () => (contract ??= describeApi(routes(), manifest.version)),
    ),
  ];
}
