import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readSources } from './support/source-code.ts';
import schema from '../schemas/config.json' with { type: 'json' };
import { ConfigError, loadConfig } from '../src/config.ts';

const key = 'a key that only the tests use, long enough';
const database = 'postgresql://someone:hidden-password@db.example.com/switchboard';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const root = fileURLToPath(new URL('..', import.meta.url));

describe('configuration', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-config-'));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('has a frozen value for every variable of the schema, from defaults alone', () => {
    const config = loadConfig({ DATA_DIR: folder });
    expect(config).to.include({ port: 3000, host: '127.0.0.1', databaseUrl: null, demo: true, role: 'all' });
    expect(config).to.include({
      rateLimitPerMinute: 3000,
      logLevel: 'info',
      bodyLimitBytes: 1_048_576,
      smtpUrl: null,
    });
    expect(config.outboundAllowCidrs).to.deep.equal([]);
    const names = Object.keys(schema.properties).map((name) =>
      name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    );
    expect(config).to.include.all.keys(names);
    expect(config).to.include({ replayQueue: 20, uploadStallMs: 15_000 });
    expect(names.length, 'an operator reads them all').to.be.at.most(88);
    expect(Object.isFrozen(config)).to.equal(true);
    expect(Object.isFrozen(config.outboundAllowCidrs)).to.equal(true);
  });

  it('knows no variable that nothing reads', () => {
    const code = [...readSources(root, ['src']).entries()].filter(([path]) => path !== 'src/config.ts');
    const names = Object.keys(loadConfig({ DATA_DIR: folder }));
    const unread = names.filter((name) => !code.some(([, text]) => new RegExp(`\\b${name}\\b`).test(text)));
    expect(unread).to.deep.equal([]);
  });

  it('reads text as the type the schema wants', () => {
    const config = loadConfig({
      DATABASE_URL: database,
      SECRET_KEY: key,
      PORT: '0',
      DEMO: '1',
      OUTBOUND_ALLOW_CIDRS: '10.0.0.0/8, fd00::/8',
      ROLE: 'engine',
    });
    expect(config).to.include({ port: 0, demo: true, role: 'engine', databaseUrl: database, secretKey: key });
    expect(config.outboundAllowCidrs).to.deep.equal(['10.0.0.0/8', 'fd00::/8']);
  });

  it('takes an empty variable for one that is not set', () => {
    const config = loadConfig({ DATA_DIR: folder, PORT: '', DATABASE_URL: '', HOST_FILE: '' });
    expect(config).to.include({ port: 3000, databaseUrl: null, host: '127.0.0.1' });
  });

  it('seeds no demonstration data into a database of the operator, unless told to', () => {
    const env = { DATABASE_URL: database, SECRET_KEY: key };
    expect(loadConfig(env).demo).to.equal(false);
    expect(loadConfig({ ...env, DEMO: 'true' }).demo).to.equal(true);
  });

  it('lists every problem at once', () => {
    const problems = problemsOf({
      PORT: '70000',
      DEMO: 'maybe',
      ROLE: 'boss',
      LOG_LEVEL: 'loud',
      OUTBOUND_ALLOW_CIDRS: '10.0.0.0/8,10.0.0.0/64,nonsense',
      RATE_LIMIT_PER_MINUTE: '3e3',
      SMTP_URL: 'smtp://localhost',
      PUBLIC_URL_FILE: join(folder, 'missing'),
      LEASE_SECONDS: '5',
      RETENTION_DAYS: '7',
      RUN_RETENTION_DAYS: '8',
    });
    const expected = [
      /^PORT must be <= 65535, not 70000$/,
      /^DEMO must be boolean, not "maybe"$/,
      /^ROLE must be .*: all, web, engine, not "boss"$/,
      /^LOG_LEVEL .*not "loud"$/,
      /^OUTBOUND_ALLOW_CIDRS: "10.0.0.0\/64"/,
      /^OUTBOUND_ALLOW_CIDRS: "nonsense"/,
      /^RATE_LIMIT_PER_MINUTE must be integer, not "3e3"$/,
      /^MAIL_FROM is needed when SMTP_URL is set$/,
      /^PUBLIC_URL_FILE cannot be read: ENOENT/,
      /^LEASE_SECONDS must be longer than WEBHOOK_TIMEOUT_MS/,
      /^RUN_RETENTION_DAYS must be at most RETENTION_DAYS/,
    ];
    for (const line of expected)
      expect(
        problems.some((problem) => line.test(problem)),
        String(line),
      ).to.equal(true);
    expect(problems).to.have.lengthOf(expected.length);
  });

  it('prints no secret value, whatever is wrong with it', () => {
    const secrets = {
      DATABASE_URL: 'mysql://u:xyzzy',
      BOOTSTRAP_ADMIN_TOKEN: 'xyzzy x',
      SECRET_KEY: 'xyzzy',
      SMTP_URL: 'http://u:xyzzy@host',
    };
    const problems = problemsOf(secrets);
    for (const name of Object.keys(secrets))
      expect(problems.some((problem) => problem.startsWith(name))).to.equal(true);
    expect(problems.join('\n')).not.to.match(/xyzzy/);
  });

  it('wants a first token that nobody guesses', () => {
    const own = { DATABASE_URL: database, SECRET_KEY: key };
    expect(problemsOf({ ...own, BOOTSTRAP_ADMIN_TOKEN: 'x'.repeat(19) })).to.have.lengthOf(1);
    expect(problemsOf({ ...own, BOOTSTRAP_ADMIN_TOKEN: 'x'.repeat(20) })).to.deep.equal([]);
  });

  it('marks in the schema what is secret', () => {
    const names = Object.entries(schema.properties).filter(([, setting]) => 'x-secret' in setting);
    expect(names.map(([name]) => name)).to.deep.equal([
      'DATABASE_URL',
      'BOOTSTRAP_ADMIN_TOKEN',
      'SECRET_KEY',
      'ATTACHMENT_S3_SECRET_ACCESS_KEY',
      'LLM_API_KEY',
      'METRICS_TOKEN',
      'SMTP_URL',
      'OIDC_CLIENT_SECRET',
    ]);
  });

  it('wants a sender for mail, and a public URL that paths can be added to', () => {
    const own = { DATABASE_URL: database, SECRET_KEY: key };
    expect(problemsOf({ ...own, SMTP_URL: 'smtp://localhost' })).to.deep.equal([
      'MAIL_FROM is needed when SMTP_URL is set',
    ]);
    for (const url of ['https://desk.example.com/', 'desk.example.com', 'https://desk.example.com/a?b', 'ftp://a.b']) {
      expect(problemsOf({ ...own, PUBLIC_URL: url }), url).to.have.lengthOf(1);
    }
    for (const url of ['https://desk.example.com', 'http://localhost:3000/support']) {
      expect(problemsOf({ ...own, PUBLIC_URL: url }), url).to.deep.equal([]);
    }
    for (const from of ['support@example.com', 'Support <support@example.com>']) {
      expect(problemsOf({ ...own, SMTP_URL: 'smtps://u:p@host:465', MAIL_FROM: from }), from).to.deep.equal([]);
    }
    expect(problemsOf({ ...own, MAIL_FROM: 'Support' })).to.have.lengthOf(1);
  });

  it('reads any variable from a file, and refuses to choose between the two', () => {
    const file = join(folder, 'value');
    writeFileSync(file, '4000\n');
    expect(loadConfig({ DATA_DIR: folder, PORT_FILE: file }).port).to.equal(4000);
    expect(problemsOf({ DATA_DIR: folder, PORT_FILE: file, PORT: '4000' })).to.deep.equal([
      'PORT and PORT_FILE are both set: keep one of them',
    ]);
  });

  it('makes the secret key once on the embedded database, readable by its owner only', () => {
    const { secretKey } = loadConfig({ DATA_DIR: folder });
    expect(secretKey).to.have.lengthOf(43);
    expect(loadConfig({ DATA_DIR: folder }).secretKey).to.equal(secretKey);
    expect(statSync(join(folder, 'secret-key')).mode & 0o777).to.equal(0o600);
    expect(loadConfig({ DATA_DIR: folder, SECRET_KEY: key }).secretKey).to.equal(key);
  });

  it('makes no secret key while something else is wrong', () => {
    problemsOf({ DATA_DIR: folder, PORT: 'x' });
    expect(existsSync(join(folder, 'secret-key'))).to.equal(false);
  });

  it('wants a secret key for a database of the operator, or the file', () => {
    const env = { DATA_DIR: folder, DATABASE_URL: database };
    expect(problemsOf(env)).to.deep.equal(['SECRET_KEY is needed with DATABASE_URL, at least 32 characters']);
    writeFileSync(join(folder, 'secret-key'), 'short\n');
    expect(problemsOf(env)[0]).to.include('must hold at least 32 characters');
    writeFileSync(join(folder, 'secret-key'), `${key}\n`);
    expect(loadConfig(env).secretKey).to.equal(key);
  });

  it('is what the table in docs/configuration.md says', async () => {
    await promisify(execFile)(process.execPath, [join(root, 'scripts', 'schemas.ts'), '--check']);
    const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
    for (const name of Object.keys(schema.properties)) expect(page).to.include(`| \`${name}\` |`);
  });
});
