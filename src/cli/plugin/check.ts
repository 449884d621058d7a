import { printable } from '../../lib/text/printable.ts';
import { simulate } from '../../testing/testing.ts';
import { tryPackage, type CheckReport } from '../try-package.ts';
import { checkTypes } from './check-types.ts';
import type { Finding } from './compare-uses.ts';
import { lookAtCode } from './look-at-code.ts';

export interface CheckOptions {
  /** A message of a customer that is played. */
  say?: string;
  json?: boolean;
}

const noTypeScript: Finding = {
  level: 'warning',
  file: 'package.json',
  line: 1,
  message: 'the types were not checked, as TypeScript is not installed: npm install --save-dev typescript',
};

/** The command `plugin check`: prints the report on a package; the exit code is 1 if it cannot be used. */
export async function printPluginCheck(directory: string, { say, json = false }: CheckOptions = {}): Promise<void> {
  const checked = await tryPackage(directory, async (pack) => {
    const types = await checkTypes(
      directory,
      pack.manifest.parts.map(({ main }) => main),
    );
    return [...lookAtCode(directory, pack), ...(types ?? [noTypeScript])];
  });
  const transcript = say === undefined || !checked.ok ? null : await play(directory, say);
  if (!checked.ok) process.exitCode = 1;
  if (json) console.log(JSON.stringify(asJson(checked, transcript), null, 2));
  else for (const line of [...checked.report, ...(transcript ?? [])]) console.log(printable(line));
}

async function play(directory: string, text: string): Promise<string[]> {
  const sim = await simulate(directory);
  await sim.customer(text);
  return sim.transcript().split('\n');
}

function asJson({ ok, report }: CheckReport, transcript: readonly string[] | null): object {
  const lines = report.map((line) => {
    const [, level = 'info', message = line] = /^(error|warning): (.*)$/s.exec(line) ?? [];
    return { level, message };
  });
  return { ok, report: lines, ...(transcript ? { transcript } : {}) };
}
