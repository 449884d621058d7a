import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import schema from '../schemas/config.json' with { type: 'json' };

interface Service {
  image: string;
  command?: string[];
  environment: Record<string, string>;
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

  it('starts only with secrets of its own, and sets nothing that the service does not know', () => {
    const secrets = {
      POSTGRES_PASSWORD: 'DATABASE_URL',
      SECRET_KEY: 'SECRET_KEY',
      BOOTSTRAP_ADMIN_TOKEN: 'BOOTSTRAP_ADMIN_TOKEN',
    };
    for (const [secret, variable] of Object.entries(secrets)) {
      expect(web.environment[variable]).to.include(`\${${secret}:?`);
      expect(read('.env.example')).to.match(new RegExp(`^${secret}=$`, 'm'));
    }
    expect(db.environment.POSTGRES_PASSWORD).to.include('${POSTGRES_PASSWORD:?');
    expect(Object.keys(schema.properties)).to.include.members(Object.keys(web.environment));
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

  it('runs as an ordinary user, with the flags that the command line passes', () => {
    expect(valuesOf('USER')).to.deep.equal(['node']);
    const [program, ...flags] = JSON.parse(valuesOf('ENTRYPOINT')[0] ?? '[]') as string[];
    expect(program).to.equal('node');
    expect(flags.pop()).to.equal('src/cli/main.ts');
    for (const flag of flags) expect(read('bin/switchboard.js')).to.include(`'${flag}'`);
    expect(valuesOf('CMD')).to.deep.equal(['["start"]']);
  });
});
