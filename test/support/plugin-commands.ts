import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeServicePass } from '../../src/lib/service-pass.ts';
import { adminToken } from './app.ts';
import { runCommand, type Ended } from './command.ts';

/** `switchboard plugin …` beside a running service: with its DATA_DIR, which is the working directory too. */
export class PluginCommands {
  readonly folder: string;

  readonly #env: Readonly<Record<string, string>>;

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.#env = env;
  }

  /** `env`: what the environment holds besides. */
  static async beside(service: { url: string }, env: Readonly<Record<string, string>> = {}): Promise<PluginCommands> {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-cli-'));
    await writeServicePass(folder, { url: service.url, token: adminToken });
    return new PluginCommands(folder, env);
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }

  run(...args: string[]): Promise<Ended> {
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: this.folder, ...this.#env };
    return runCommand(['plugin', ...args], { env, cwd: this.folder });
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
