import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A published version: its archive, and what the registry says of it otherwise than is so. */
interface Release {
  archive: Buffer;
  integrity?: string;
}

/** A registry of npm on loopback, which npm itself asks; it wants the token of the user's npmrc. */
export class FakeNpm {
  readonly token = 'npm-token-of-the-user';
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  readonly #packages = new Map<string, { releases: Map<string, Release>; latest: string }>();
  readonly #server: Server;
  readonly #folder = mkdtempSync(join(tmpdir(), 'switchboard-npmrc-'));

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response));
  }

  static async start(): Promise<FakeNpm> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return new FakeNpm(server);
  }

  get #host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The environment in which npm asks this registry, with a configuration and a cache of its own. */
  get env(): Record<string, string> {
    const userconfig = join(this.#folder, 'npmrc');
    const lines = [
      `registry=http://${this.#host}/`,
      `//${this.#host}/:_authToken=${this.token}`,
      'fetch-retries=0',
      'update-notifier=false',
    ];
    writeFileSync(userconfig, `${lines.join('\n')}\n`);
    return { npm_config_userconfig: userconfig, npm_config_cache: join(this.#folder, 'cache'), HOME: this.#folder };
  }

  publish(name: string, version: string, release: Release): void {
    const known = this.#packages.get(name) ?? { releases: new Map(), latest: version };
    known.releases.set(version, release);
    known.latest = version;
    this.#packages.set(name, known);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(url, 'http://registry').pathname).slice(1);
    this.asked.push(path);
    const [name = '', file] = path.split('/-/');
    const known = this.#packages.get(name);
    if (headers.authorization !== `Bearer ${this.token}`) return void response.writeHead(401).end('{}');
    if (!known) return void response.writeHead(404).end('{"error":"not found"}');
    if (file === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.#describe(name, known)));
      return;
    }
    response.writeHead(200).end(known.releases.get(file.replace(/^.*-(?=\d)|\.tgz$/g, ''))?.archive);
  }

  #describe(name: string, { releases, latest }: { releases: Map<string, Release>; latest: string }): object {
    const versions = [...releases].map(([version, { archive, integrity }]) => {
      const tarball = `http://${this.#host}/${name}/-/${name.replace(/^.*\//, '')}-${version}.tgz`;
      const hash = integrity ?? `sha512-${createHash('sha512').update(archive).digest('base64')}`;
      return [version, { name, version, dist: { tarball, integrity: hash } }];
    });
    return { name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) as object };
  }
}
