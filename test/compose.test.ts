import { expect } from 'chai';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { loadConfig } from '../src/config.ts';
import schema from '../schemas/config.json' with { type: 'json' };

interface Service {
  image: string;
  command?: string[];
  environment: Record<string, string>;
  env_file?: { path: string; required: boolean }[];
  volumes?: string[];
  ports?: string[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  [option: string]: unknown;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string): string => readFileSync(root + name, 'utf8');

describe('docker compose', () => {
  const compose = parse(read('docker-compose.yml'), { merge: true }) as {
    services: Record<'db' | 'migrate' | 'web' | 'engine', Service>;
    volumes: Record<string, unknown>;
  };
  const { db, migrate, web, engine } = compose.services;

  it('has the database, the one-shot migration, the API and the engine', () => {
    expect(compose.services).to.have.all.keys('db', 'migrate', 'web', 'engine');
    expect(migrate).to.deep.include({ command: ['migrate'], restart: 'no' });
    expect(web.environment.ROLE).to.equal('web');
    expect(engine.environment.ROLE).to.equal('engine');
    expect(new Set([migrate.image, web.image, engine.image])).to.have.lengthOf(1);
  });

  it('keeps the data of PostgreSQL 18 where that image keeps it', () => {
    expect(db.image).to.match(/^postgres:18/);
    expect(db.volumes).to.deep.equal(['database:/var/lib/postgresql']);
    expect(compose.volumes).to.have.property('database');
    expect(db.ports).to.equal(undefined);
  });

  it('waits for a healthy database and a finished migration', () => {
    const finished = { condition: 'service_completed_successfully' };
    for (const service of [web, engine]) {
      expect(service.depends_on).to.deep.equal({ db: { condition: 'service_healthy' }, migrate: finished });
      expect(service.healthcheck?.test.join(' ')).to.include('/readyz');
    }
    expect(migrate.depends_on).to.deep.equal({ db: { condition: 'service_healthy' } });
    expect(db.healthcheck?.test).to.include('pg_isready');
  });

  it('runs the service with no more rights than it needs', () => {
    for (const service of [migrate, web, engine]) {
      expect(service).to.deep.include({
        init: true,
        read_only: true,
        tmpfs: ['/tmp'],
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        stop_grace_period: '30s',
      });
    }
    for (const port of web.ports ?? []) expect(port).to.match(/^127\.0\.0\.1:/);
  });

  /** What a process of the service finds in its environment when `.env` has these lines. */
  const environmentOf = ({ env_file: files, environment }: Service, dotEnv: Record<string, string>) => {
    const fromFile = (files ?? []).some(({ path }) => path === '.env') ? dotEnv : {};
    const fixed = Object.entries(environment).map(([name, text]) => [
      name,
      text.replace(/\$\{(\w+):\?[^}]*\}/g, (_, wanted: string) => dotEnv[wanted] ?? ''),
    ]);
    return { ...fromFile, ...Object.fromEntries(fixed) } as Record<string, string>;
  };

  it('lets every setting in .env reach every process, but for those that it fixes', () => {
    const fixed = ['DATABASE_URL', 'DATA_DIR', 'HOST', 'PORT', 'ROLE'];
    const settings = Object.keys(schema.properties);
    const dotEnv = Object.fromEntries(
      settings.flatMap((name) => [
        [name, `own ${name}`],
        [`${name}_FILE`, 'file'],
      ]),
    );
    for (const service of [migrate, web, engine]) {
      expect(service.env_file).to.deep.equal([{ path: '.env', required: false }]);
      expect(fixed).to.include.members(Object.keys(service.environment));
      const found = environmentOf(service, dotEnv);
      for (const name of settings.filter((one) => !fixed.includes(one))) expect(found[name]).to.equal(`own ${name}`);
    }
  });

  it('starts with what .env.example asks for, and says in a sentence what is missing', () => {
    const secrets = {
      POSTGRES_PASSWORD: 'p'.repeat(8),
      SECRET_KEY: 'k'.repeat(32),
      BOOTSTRAP_ADMIN_TOKEN: 't'.repeat(32),
    };
    for (const secret of Object.keys(secrets)) expect(read('.env.example')).to.match(new RegExp(`^${secret}=$`, 'm'));
    const dotEnv = {
      ...secrets,
      PORT: '8080-8083',
      HOST: '127.0.0.1',
      DATA_DIR: '.data',
      PUBLIC_URL: 'https://chat.example.com',
    };
    for (const service of [migrate, web, engine]) {
      const config = loadConfig(environmentOf(service, dotEnv));
      expect(config).to.deep.include({ port: 3000, host: '0.0.0.0', publicUrl: 'https://chat.example.com' });
      expect(config.databaseUrl).to.include(`:${secrets.POSTGRES_PASSWORD}@db:5432/`);
      expect(() => loadConfig(environmentOf(service, { ...dotEnv, SECRET_KEY: '' }))).to.throw(/SECRET_KEY is needed/);
    }
    expect(db.environment['POSTGRES_PASSWORD']).to.include('${POSTGRES_PASSWORD:?');
  });

  it('reads secrets from files, which no list of containers shows', () => {
    for (const service of [migrate, web, engine]) expect(service.volumes?.[0]).to.match(/:\/run\/secrets:ro$/);
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-secrets-'));
    writeFileSync(join(folder, 'secret-key'), `${'f'.repeat(32)}\n`);
    const dotEnv = { POSTGRES_PASSWORD: 'password', SECRET_KEY: '', SECRET_KEY_FILE: join(folder, 'secret-key') };
    expect(loadConfig(environmentOf(web, dotEnv)).secretKey).to.equal('f'.repeat(32));
    rmSync(folder, { recursive: true });
  });

  it('gives each of several web processes a port of its own, and Prometheus finds all processes', () => {
    // PORT may be a range of ports of the host; that of the container is fixed.
    expect(web.ports).to.deep.equal(['127.0.0.1:${PORT:-3000}:3000']);
    const { scrape_configs: jobs } = parse(read('deploy/prometheus.yml')) as {
      scrape_configs: { dns_sd_configs: { names: string[]; type: string; port: number }[] }[];
    };
    const [discovery] = jobs.flatMap(({ dns_sd_configs: names }) => names);
    expect(discovery).to.deep.include({ names: ['web', 'engine'], type: 'A', port: Number(web.environment['PORT']) });
  });

  it('has in .env.example only what compose or the service reads', () => {
    const names = [...read('.env.example').matchAll(/^#? ?([A-Z_]+)=/gm)].map(([, name]) => name);
    expect([...Object.keys(schema.properties), 'POSTGRES_PASSWORD']).to.include.members(names);
  });
});

describe('Dockerfile', () => {
  const lines = read('Dockerfile').replaceAll('\\\n', ' ').split('\n');
  const valuesOf = (instruction: string): string[] =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));

  it('builds in one stage and ships another, on the Node the project wants', () => {
    const major = read('.node-version').trim();
    expect(valuesOf('FROM')).to.deep.equal([`node:${major}-slim AS dependencies`, `node:${major}-slim`]);
  });

  it('installs what the lock file says, without development packages', () => {
    const [install] = valuesOf('RUN');
    expect(install).to.include('npm ci --omit=dev --omit=optional');
  });

  it('copies what exists and the builder is sent', () => {
    const sent = read('.dockerignore').split('\n');
    const copied = valuesOf('COPY').filter((value) => !value.startsWith('--from'));
    for (const name of copied.flatMap((value) => value.split(' ').slice(0, -1))) {
      expect(existsSync(root + name), name).to.equal(true);
      expect(sent).to.include(`!${name}`);
    }
  });

  it('runs as an ordinary user, by the command line of everybody', () => {
    expect(valuesOf('USER')).to.deep.equal(['node']);
    expect(valuesOf('ENTRYPOINT')).to.deep.equal(['["node", "--disable-sigusr1", "bin/switchboard.js"]']);
    expect(valuesOf('RUN').at(-1)).to.equal('node bin/switchboard.js prepare');
    expect(lines.findIndex((line) => line.startsWith('USER '))).to.be.below(
      lines.indexOf('RUN node bin/switchboard.js prepare'),
    );
    expect(valuesOf('CMD')).to.deep.equal(['["start"]']);
  });
});
