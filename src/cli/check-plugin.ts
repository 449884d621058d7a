import { printable } from '../lib/printable.ts';
import { tryPackage } from './try-package.ts';

/** Prints what the check of a plugin folder found; the exit code is 1 when the plugin cannot be used. */
export async function printPluginCheck(directory: string): Promise<void> {
  const { ok, report } = await tryPackage(directory);
  for (const line of report) console.log(printable(line));
  if (!ok) process.exitCode = 1;
}
