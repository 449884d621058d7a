import { existsSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { routes } from '../../src/api/index.ts';
import { describeApi, listEvents } from '../../src/openapi/document.ts';
import { componentName } from '../../src/openapi/schemas.ts';
import { doors } from '../../src/http/route/admission/doors.ts';
import type { Contract, Route } from '../../src/http/route/route.ts';
import { traitsOf } from '../../src/http/route/traits.ts';
import { documents } from '../../src/schemas.ts';
import { TestApp } from '../support/app.ts';

// The document is read as any client reads it.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

const templated = (path: string) => path.replaceAll(/:(\w+)/g, '{$1}');
const referenced = (document: unknown) =>
  new Set(
    Array.from(JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+\/[^"/]+)/g), ([, name = '']) => name),
  );

/** Follows a reference within the document. */
function follow(document: Any, value: Any): Any {
  if (!value?.$ref) return value;
  return value.$ref
    .slice(2)
    .split('/')
    .reduce((at: Any, key: string) => at[key], document);
}

const data = new Set(['const', 'enum', 'default', 'examples', 'example']);

/**
 * Breaches of rules of Redocly (`struct`, `no-required-schema-properties-undefined`) and Spectral (`array-items`), which both
 * read booleans and lists of types less freely than JSON Schema does. Properties may have the names of keywords.
 */
function findBrokenRules(part: Any, path: string, areProperties = false): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const within = Object.entries<Any>(part)
    .filter(([key]) => areProperties || !data.has(key))
    .flatMap(([key, value]) => findBrokenRules(value, `${path}/${key}`, !areProperties && key === 'properties'));
  return areProperties || Array.isArray(part) ? within : [...brokenRules(part, path), ...within];
}

function brokenRules({ type, items, required, properties, allOf, ...rest }: Any, path: string): string[] {
  const booleans = ['if', 'then', 'else'].filter((key) => typeof rest[key] === 'boolean');
  const isList = Array.isArray(required) && !allOf;
  return [
    ...booleans.map((key) => `${path}: \`${key}\` is no object`),
    ...([type].flat().includes('array') && !items ? [`${path}: an array without \`items\``] : []),
    ...(isList ? required.filter((name: string) => !properties?.[name]) : []).map(
      (name: string) => `${path}: \`${name}\` is no property`,
    ),
  ];
}

const replyTypeOf = ({ stream }: Contract) => (stream ? 'text/event-stream' : 'application/json');
const unkeyed = /\/(filter|replay|try|calls|password|confirm|recovery_codes|dry_run)$/;

describe('the published contract', () => {
  let app: TestApp;
  let document: Any;

  before(async () => {
    app = await TestApp.start({ engine: false });
    document = (await app.get('/openapi.json', { api_access_token: '' })).body;
  });

  after(() => app.stop());

  const operations = (): { path: string; method: string; operation: Any }[] =>
    Object.entries<Any>(document.paths).flatMap(([path, item]) =>
      Object.entries<Any>(item).map(([method, operation]) => ({ path, method, operation })),
    );
  const operationOf = ({ method, path }: Route) => document.paths[templated(path)]?.[method.toLowerCase()];

  it('needs no token, may be kept and asked for again', async () => {
    const { status, headers } = await app.get('/openapi.json', { api_access_token: '' });
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json; charset=utf-8']);
    expect(headers.get('cache-control')).to.equal('no-cache');
    const again = await app.get('/openapi.json', { 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, again.body]).to.deep.equal([304, undefined]);
  });

  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
    expect(document.openapi).to.match(/^3\.1\./);
  });

  it('refers to components alone, and to no place inside of one: generators stop there', () => {
    const references = Array.from(JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g), ([, name = '']) => name);
    expect(references).to.have.length.greaterThan(500);
    expect(references.filter((name) => !/^#\/components\/\w+\/[^/]+$/.test(name))).to.deep.equal([]);
  });

  it('passes the linters of the field: their rules that this document has broken, as errors or warnings', () => {
    const broken = (part: unknown) => findBrokenRules(part, 'document');
    // Each rule finds what it is about.
    const planted: [schema: string, problem?: string][] = [
      ['{ "if": {}, "then": true }', 'document: `then` is no object'],
      ['{ "type": ["string", "array"] }', 'document: an array without `items`'],
      ['{ "then": { "required": ["id"] } }', 'document/then: `id` is no property'],
      ['{ "properties": { "type": { "const": "array" }, "required": { "type": "array", "items": {} } } }'],
    ];
    for (const [schema, ...problems] of planted) expect(broken(JSON.parse(schema)), schema).to.deep.equal(problems);
    expect(broken(document)).to.deep.equal([]);
    for (const { name, description } of document.tags) expect(description, name).to.match(/^[A-Z].*\.$/);
  });

  it('has every route of the table, and nothing else', () => {
    const wanted = routes.map(({ method, path }) => `${method} ${templated(path)}`);
    const found = operations().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(found.toSorted()).to.deep.equal(wanted.toSorted());
    expect(new Set(wanted).size).to.equal(wanted.length);
  });

  it('tells the schemas of every route: body, query and answer with its status', () => {
    for (const one of routes) {
      const { contract } = one;
      const operation = operationOf(one);
      const title = `${one.method} ${one.path}`;
      const schema = (name: string) => ({ $ref: `#/components/schemas/${componentName(name)}` });
      const status = String(contract.status ?? 200);
      expect(
        Object.keys(operation.responses).filter((code) => code.startsWith('2')),
        title,
      ).to.deep.equal(contract.unchanged ? ['200', status] : [status]);
      expect(operation.responses[status].content[replyTypeOf(contract)].schema, title).to.deep.equal(
        schema(contract.reply),
      );
      const bodyType = contract.upload ? 'multipart/form-data' : 'application/json';
      expect(operation.requestBody?.content[bodyType].schema, title).to.deep.equal(
        contract.body && schema(contract.body),
      );
      const parameters = (operation.parameters ?? []).map((parameter: Any) => follow(document, parameter));
      const named = (place: string) =>
        parameters.filter((parameter: Any) => parameter.in === place).map(({ name }: Any) => name);
      const query = contract.query ? documents.get(contract.query) : {};
      expect(named('query'), title).to.deep.equal(Object.keys(query?.['properties'] ?? {}));
      // What stands outside its properties could not be told.
      for (const keyword of ['$ref', 'allOf', 'anyOf', 'oneOf', 'if'])
        expect(query, title).not.to.have.property(keyword);
      const inPath = Array.from(one.path.matchAll(/:(\w+)/g), ([, name]) => name);
      expect(named('path'), title).to.deep.equal(inPath);
    }
  });

  it('names multipart forms beside JSON where they are read', () => {
    for (const one of routes.filter(({ contract }) => contract.multipart)) {
      const { content } = operationOf(one).requestBody;
      expect(content['multipart/form-data']).to.deep.equal(content['application/json']);
    }
    for (const one of routes.filter(({ contract }) => contract.withFiles)) {
      const { content } = operationOf(one).requestBody;
      const [plain, withFiles] = content['multipart/form-data'].schema.anyOf;
      expect(plain).to.deep.equal(content['application/json'].schema);
      expect(Object.keys(follow(document, withFiles).properties).join()).to.match(/attachments\]?\[\]/);
    }
    for (const one of routes.filter(({ contract }) => contract.body && !contract.multipart && !contract.withFiles))
      expect(operationOf(one).requestBody.content).to.have.all.keys(
        one.contract.upload ? 'multipart/form-data' : 'application/json',
      );
  });

  it('tells the refusals of every route, each as an error', () => {
    for (const one of routes) {
      const operation = operationOf(one);
      const told = Object.keys(operation.responses).filter((code) => code.startsWith('4') || code.startsWith('5'));
      expect(told, `${one.method} ${one.path}`).to.deep.equal(traitsOf(one, routes).errors.map(String));
      for (const code of told) {
        const { content } = follow(document, operation.responses[code]);
        expect(content['application/json'].schema).to.deep.equal({ $ref: '#/components/schemas/Error' });
      }
    }
    const codes = (path: string, method: string) => Object.keys(document.paths[path][method].responses);
    const base = '/api/v1/accounts/{account_id}';
    expect(codes(`${base}/contacts`, 'post')).to.include.members([
      '201',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '422',
      '429',
      '503',
    ]);
    expect(codes(`${base}/contacts/{id}`, 'get')).to.deep.equal([
      '200',
      '304',
      '400',
      '401',
      '403',
      '404',
      '429',
      '503',
    ]);
    expect(codes(`${base}/contacts/{id}`, 'patch')).to.include.members(['412', '413', '415', '422']);
    expect(codes('/healthz', 'get')).to.deep.equal(['200', '400', '503']);
  });

  it('tells which headers an operation reads', () => {
    for (const one of routes) {
      const headers = (operationOf(one).parameters ?? []).map((parameter: Any) => follow(document, parameter).name);
      const { keyed, record, tagged } = traitsOf(one, routes);
      const title = `${one.method} ${one.path}`;
      expect(headers.includes('Idempotency-Key'), title).to.equal(keyed);
      expect(headers.includes('If-Match'), title).to.equal(record !== null);
      expect(headers.includes('If-None-Match'), title).to.equal(tagged);
      if (title.startsWith('POST /api/')) expect(keyed, title).to.equal(!unkeyed.test(title));
    }
  });

  it('names every operation once, with a line and a subject', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    const events = Object.values<Any>(document.webhooks).map(({ post }) => post.operationId);
    expect(new Set([...ids, ...events]).size).to.equal(ids.length + events.length);
    const tags = new Set(document.tags.map(({ name }: Any) => name));
    for (const { operation } of operations()) {
      expect(operation.operationId).to.match(/^[a-z][A-Za-z]+$/);
      expect(operation.summary).to.match(/^[A-Z][\w ’.,'-]+$/);
      expect(operation.description).to.be.a('string').and.not.equal('');
      for (const tag of operation.tags) expect(tags.has(tag), tag).to.equal(true);
    }
    expect(ids).to.include.members([
      'listContacts',
      'getContact',
      'createContact',
      'toggleConversationStatus',
      'getProfile',
    ]);
  });

  it('tells who may call', () => {
    for (const one of routes) {
      const { security } = operationOf(one);
      const schemes = security.flatMap((option: object) => Object.keys(option));
      const { role } = one.contract;
      const title = `${one.method} ${one.path}`;
      if (['anyone', 'newcomer', 'newClient', 'client'].includes(role)) expect(security, title).to.deep.equal([]);
      else if (role === 'visitor' || role === 'contact') expect(schemes, title).to.deep.equal(['contact_token']);
      else {
        const tickets = one.contract.stream ? ['ticket'] : [];
        expect(schemes, title).to.deep.equal(['api_access_token', 'bearer', 'sign_in', ...tickets]);
      }
      for (const scheme of schemes) expect(document.components.securitySchemes).to.have.property(scheme);
    }
  });

  it('has every event with each audience, and nothing else', () => {
    const wanted = listEvents().map(([name, audience]) => `${audience}_${name}`);
    expect(Object.keys(document.webhooks).toSorted()).to.deep.equal(wanted.toSorted());
    expect(wanted).to.include.members([
      'account_message_created',
      'account_conversation_status_changed',
      'bot_message_created',
      'bot_conversation_resolved',
    ]);
    for (const [name, audience] of listEvents()) {
      const { post } = document.webhooks[`${audience}_${name}`];
      const file = `events/${audience}/${name}`;
      expect(post.requestBody.content['application/json'].schema.$ref).to.equal(
        `#/components/schemas/${componentName(file)}`,
      );
      expect(post.parameters.map((parameter: Any) => parameter.name)).to.include('webhook-signature');
    }
  });

  it('has every component that something refers to, and no other', () => {
    const used = referenced(document);
    const there = Object.entries<object>(document.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, components]) => Object.keys(components).map((name) => `${kind}/${name}`));
    expect([...used].toSorted()).to.deep.equal(there.toSorted());
  });

  it('has schemas that judge as our own do', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
    formats.default(ajv);
    ajv.addVocabulary(['components', 'x-secret', 'x-explained', 'x-max-bytes', 'defaultText']);
    ajv.addSchema({ $id: 'switchboard:/contract', components: document.components });
    for (const name of Object.keys(document.components.schemas)) {
      expect(ajv.compile({ $ref: `switchboard:/contract#/components/schemas/${name}` }), name).to.be.a('function');
    }
    const judge = ajv.compile({ $ref: 'switchboard:/contract#/components/schemas/ContactCreateRequest' });
    expect(judge({ name: 'Ada', phone_number: '+14155552671' })).to.equal(true);
    expect(judge({ name: 'Ada', phone_number: '555' })).to.equal(false);
    expect(judge({ name: '' })).to.equal(false);
  });

  it('has a route that was added to the table, with no more work', () => {
    const added = doors.account(
      ['POST', '/api/v1/accounts/:account_id/spaceships/:id/launch', 'Set the launch of a spaceship'],
      { body: 'requests/contact.create', reply: 'resources/contact', role: 'administrator' },
      async () => {
        throw new Error('never called');
      },
    );
    const grown: Any = describeApi([...routes, added], '0.0.0');
    const { post } = grown.paths['/api/v1/accounts/{account_id}/spaceships/{id}/launch'];
    expect([post.operationId, post.summary, post.tags]).to.deep.equal([
      'setSpaceshipLaunch',
      'Set the launch of a spaceship',
      ['Spaceships'],
    ]);
    expect(Object.keys(grown.paths)).to.have.lengthOf(Object.keys(document.paths).length + 1);
  });
});

describe('the documentation for people', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
  });

  after(() => app.stop());

  const files = ['/docs', '/docs/start.js', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js'];

  it('is whole, and comes from here', async () => {
    const types = [];
    for (const file of files) {
      const response = await fetch(app.url + file);
      expect(response.status, file).to.equal(200);
      types.push(response.headers.get('content-type'));
      expect((await response.text()).length, file).to.be.greaterThan(100);
    }
    expect(types).to.deep.equal([
      'text/html; charset=utf-8',
      'text/javascript; charset=utf-8',
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
    ]);
  });

  it('asks for nothing that is not here', async () => {
    const page = await (await fetch(`${app.url}/docs`)).text();
    const wanted = Array.from(page.matchAll(/(?:src|href)="([^"]+)"/g), ([, address = '']) => address);
    for (const address of wanted.filter((one) => !one.startsWith('data:'))) {
      expect(address).to.match(/^\//);
      expect((await fetch(app.url + address, { method: 'HEAD' })).status, address).to.equal(200);
    }
    expect(page).not.to.match(/<script>|\son\w+=|https?:/);
    const start = await (await fetch(`${app.url}/docs/start.js`)).text();
    expect(start).to.contain('validatorUrl: null').and.to.contain("url: '/openapi.json'");
    expect(start).not.to.match(/https?:/);
    const styles = await (await fetch(`${app.url}/docs/swagger-ui.css`)).text();
    const loaded = Array.from(styles.matchAll(/(?:url\(|@import\s*)["']?([^"')]+)/g), ([, address = '']) => address);
    for (const address of loaded) expect(address.slice(0, 5)).to.equal('data:');
  });

  it('lets the browser load and call nothing but this service', async () => {
    for (const file of files) {
      const response = await fetch(app.url + file, { method: 'HEAD' });
      const policy = response.headers.get('content-security-policy') ?? '';
      const directives = new Map(
        policy.split('; ').map((text) => [text.split(' ')[0], text.split(' ').slice(1).join(' ')]),
      );
      expect(directives.get('default-src')).to.equal("'none'");
      expect(directives.get('script-src')).to.equal("'self'");
      expect(directives.get('connect-src')).to.equal("'self'");
      expect(directives.get('frame-ancestors')).to.equal("'none'");
      expect(policy).not.to.match(/https?:|\*/);
    }
  });

  it('may be kept, and asked for again', async () => {
    for (const file of files) {
      const first = await fetch(app.url + file);
      await first.arrayBuffer();
      const etag = first.headers.get('etag') ?? '';
      const again = await fetch(app.url + file, { headers: { 'if-none-match': etag } });
      expect([again.status, await again.text()]).to.deep.equal([304, '']);
      expect(first.headers.get('cache-control')).to.equal('no-cache');
    }
  });

  it('is only read', async () => {
    const { status, headers } = await app.post('/docs');
    expect([status, headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
    expect((await app.get('/docs/swagger-ui.css.map')).status).to.equal(404);
    expect((await app.get('/docs/../package.json')).status).to.equal(404);
  });

  it('brings no script of a package to install', async () => {
    const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
    expect(manifest.allowScripts['@scarf/scarf']).to.equal(false);
    expect(existsSync(new URL('../../node_modules/swagger-ui-dist/swagger-ui-bundle.js', import.meta.url))).to.equal(
      true,
    );
  });
});
