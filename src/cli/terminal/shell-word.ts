const plain = /^[\w./:@%+=-]+$/;

/** Returns a text as one word of a shell's command line. */
export function shellWord(text: string): string {
  return plain.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
