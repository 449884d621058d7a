import { createInterface } from 'node:readline/promises';

/** Asks at the terminal; true for yes. Null where nobody can be asked. */
export async function isSure(question: string): Promise<boolean | null> {
  if (!process.stdin.isTTY) return null;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} (y/N) `)).trim());
  } finally {
    terminal.close();
  }
}
