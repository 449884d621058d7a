import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { writeServicePass } from '../../src/lib/service-pass.ts';
import { adminToken } from './app.ts';

const launcher = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));

/** `switchboard plugin …` beside a running service: with its DATA_DIR, which is the working directory too. */
export class PluginCommands {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async beside(service: { url: string }): Promise<PluginCommands> {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-cli-'));
    await writeServicePass(folder, { url: service.url, token: adminToken });
    return new PluginCommands(folder);
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }

  async run(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: this.folder };
    const child = spawn(process.execPath, [launcher, 'plugin', ...args], {
      env,
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors] = [text(child.stdout), text(child.stderr)];
    const [code] = (await once(child, 'exit')) as [number];
    return { code, output: await output, errors: await errors };
  }

  /** The output of a command that succeeds. */
  async told(...args: string[]): Promise<string> {
    const { code, output, errors } = await this.run(...args);
    expect([code, errors], args.join(' ')).to.deep.equal([0, '']);
    return output;
  }

  /** What a command says that fails, for people. */
  async refused(...args: string[]): Promise<string> {
    const { code, errors } = await this.run(...args);
    expect(code, args.join(' ')).to.equal(1);
    expect(errors).not.to.contain('    at ');
    return errors;
  }
}
