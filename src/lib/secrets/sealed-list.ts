import { SecretUnreadableError, type SecretBox } from './secret-box.ts';

/** Seals a list of values, which a caller keeps and gives back: it can neither be read nor forged. */
export function sealList(secretBox: SecretBox, values: readonly (string | number)[]): string {
  return secretBox.seal(JSON.stringify(values));
}

/** The values of a sealed list; empty for a text that is none of ours. */
export function openList(secretBox: SecretBox, sealed: string): readonly unknown[] {
  try {
    const opened: unknown = JSON.parse(secretBox.open(sealed));
    return Array.isArray(opened) ? opened : [];
  } catch (error) {
    // Other secrets that were sealed are texts without a form.
    if (error instanceof SecretUnreadableError || error instanceof SyntaxError) return [];
    throw error;
  }
}
