import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StaticFile } from '../../http/server/static-files.ts';

const headers = {
  // Everything comes from this service. Swagger UI sets styles by attributes, and its style sheet has data: icons.
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Switchboard API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <main id="reference"></main>
    <noscript>The contract itself: <a href="/openapi.json">/openapi.json</a></noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

// validatorUrl null: by default Swagger UI sends the contract to a host of its makers.
const start = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  validatorUrl: null,
  queryConfigEnabled: false,
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  persistAuthorization: false,
});
`;

function packaged(name: string): () => Buffer {
  const folder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
  return () => readFileSync(join(folder, name));
}

/** The API's documentation: Swagger UI for the published contract. */
export const docsFiles: readonly StaticFile[] = [
  { path: '/docs', type: 'html', read: () => Buffer.from(page), headers },
  { path: '/docs/', type: 'html', read: () => Buffer.from(page), headers },
  { path: '/docs/start.js', type: 'js', read: () => Buffer.from(start), headers },
  { path: '/docs/swagger-ui.css', type: 'css', read: packaged('swagger-ui.css'), headers },
  { path: '/docs/swagger-ui-bundle.js', type: 'js', read: packaged('swagger-ui-bundle.js'), headers },
];
