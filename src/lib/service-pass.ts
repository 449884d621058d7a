import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** URL and access token with which commands on this machine call the running service. */
export interface ServicePass {
  url: string;
  token: string;
}

const fileName = 'service-pass.json';

/** Reads the pass that the last start left in DATA_DIR; null if there is none. */
export function readServicePass(dataDir: string): ServicePass | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, fileName), 'utf8')) as ServicePass;
  } catch {
    return null;
  }
}

/** Writes the pass to DATA_DIR, readable by its owner only. */
export async function writeServicePass(dataDir: string, pass: ServicePass): Promise<void> {
  const file = join(dataDir, fileName);
  await writeFile(file, `${JSON.stringify(pass)}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
}
