import { printable } from '../lib/printable.ts';
import { tryPackage } from './try-package.ts';

/** The command `plugin check`: prints the report on a package; the exit code is 1 if it cannot be used. */
export async function printPluginCheck(directory: string): Promise<void> {
  const { ok, report } = await tryPackage(directory);
  for (const line of report) console.log(printable(line));
  if (!ok) process.exitCode = 1;
}
