import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What `npm run demo` needs to speak to the running service: kept in DATA_DIR, readable by its owner only. */
export interface DemoPass {
  url: string;
  token: string;
}

const fileName = 'demo-pass.json';

/** The pass that a start with DEMO left in DATA_DIR, or null. */
export function readDemoPass(dataDir: string): DemoPass | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, fileName), 'utf8')) as DemoPass;
  } catch {
    return null;
  }
}

/** Leaves the pass in DATA_DIR. */
export async function writeDemoPass(dataDir: string, pass: DemoPass): Promise<void> {
  const file = join(dataDir, fileName);
  await writeFile(file, `${JSON.stringify(pass)}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
}
