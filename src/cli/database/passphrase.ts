import { readFileSync } from 'node:fs';
import { OperatorError } from '../../lib/operator-error.ts';

// Passphrases can be tried for ever on the file of a backup.
const minLength = 16;

/** Returns the passphrase in a file, without white space around it. Throws OperatorError for a short one. */
export function readPassphrase(path: string): string {
  const passphrase = readText(path).trim();
  if (passphrase.length >= minLength) return passphrase;
  throw new OperatorError(`The passphrase in ${path} is too short: it needs at least ${minLength} characters.`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new OperatorError(`--passphrase-file cannot be read: ${(error as Error).message}`);
  }
}
