import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { migrate } from '../../src/postgres/migrate.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { ServiceProcess } from '../support/service.ts';
import { signInAt } from '../support/sign-in.ts';

const program = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));
const run = promisify(execFile);
const linkLine = /^ *(http\S+\/console#link=([\w-]+))$/m;

describe('the link to the console', function () {
  this.timeout(120_000);
  let databaseUrl: string;
  let service: ServiceProcess;

  before(async () => {
    databaseUrl = await createDatabase(migrate);
    service = await ServiceProcess.start({ databaseUrl });
  });

  after(async () => {
    await service?.stop();
    await dropDatabase(databaseUrl);
  });

  async function command(...args: string[]): Promise<{ output: string; errors: string; code: number }> {
    const env = {
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      SECRET_KEY: 'a key that only the tests use, long enough',
      PORT: new URL(service.url).port,
    };
    return run(process.execPath, [program, 'console-link', ...args], { env, cwd: '/' }).then(
      ({ stdout, stderr }) => ({ output: stdout, errors: stderr, code: 0 }),
      ({ stdout, stderr, code }: { stdout: string; stderr: string; code: number }) => ({
        output: stdout,
        errors: stderr,
        code,
      }),
    );
  }

  it('is printed by the first start, on a line that no terminal breaks', async () => {
    const [line = '', url = '', link = ''] = linkLine.exec(service.output) ?? [];
    expect(line.length).to.be.within(1, 80);
    expect(url).to.equal(`${service.url}/console#link=${link}`);
    await signInAt(service.url, { link });
  });

  it('is made anew by the command, for anybody, while the service runs', async () => {
    const { output } = await command();
    const [line = '', url, link = ''] = linkLine.exec(output) ?? [];
    expect(line.length).to.be.within(1, 80);
    expect(url).to.equal(`${service.url}/console#link=${link}`);
    const pages = await signInAt(service.url, { link });
    const answer = await fetch(`${service.url}/api/v1/profile`, { headers: pages });
    expect(await answer.json()).to.include({ name: 'Administrator' });
    const named = await command('--email', 'ADMINISTRATOR@example.com');
    expect(named.output).to.match(linkLine);
    const nobody = await command('--email', 'nobody@example.com');
    expect(nobody).to.include({ code: 1, output: '' });
    expect(nobody.errors).to.include('Nobody here has the e-mail address nobody@example.com');
  });

  it('is no part of a later start', async () => {
    const later = await ServiceProcess.start({ databaseUrl });
    expect(later.output).to.not.match(linkLine);
    await later.stop();
  });
});
