import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * URL and token with which `npm run demo` calls the running service; a file in DATA_DIR, readable by its owner only.
 */
export interface DemoPass {
  url: string;
  token: string;
}

const fileName = 'demo-pass.json';

/** Reads the pass that a start with DEMO wrote to DATA_DIR; null if there is none. */
export function readDemoPass(dataDir: string): DemoPass | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, fileName), 'utf8')) as DemoPass;
  } catch {
    return null;
  }
}

/** Writes the pass to DATA_DIR. */
export async function writeDemoPass(dataDir: string, pass: DemoPass): Promise<void> {
  const file = join(dataDir, fileName);
  await writeFile(file, `${JSON.stringify(pass)}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
}
