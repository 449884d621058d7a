import type { Shape } from '../../../schemas.ts';

/** A request that the model of an AI bot may have made; `result` is a JSON pointer into the answer. */
export type Tool = Required<Shape<'runtime/tools'>[number]>;

/** Tools as they are stored, with their defaults. */
export function readTools(given: Shape<'runtime/tools'>): Tool[] {
  return given.map(
    ({
      name,
      description = '',
      parameters = { type: 'object', properties: {} },
      url,
      method = 'GET',
      headers = {},
      result = null,
    }) => ({ name, description, parameters, url, method, headers, result }),
  );
}

// The names that secrets have in requests: see `setting_name` in schemas/common.json.
const secretMark = /\{\{([A-Za-z][A-Za-z0-9_]{0,63})\}\}/g;

/** Names of the secrets that the headers of tools stand for, each once. */
export function secretsOf(tools: readonly Pick<Tool, 'headers'>[]): string[] {
  const texts = tools.flatMap(({ headers }) => Object.values(headers));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(secretMark)].map(([, name = '']) => name)))];
}

/** A header's text with its secrets, which `open` returns; without them where it returns an empty text. */
export function fillSecrets(text: string, open: (name: string) => string): string {
  return text.replace(secretMark, (_, name: string) => open(name));
}
