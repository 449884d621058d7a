const index = /^\d+$/;

/**
 * How a sentence names the value at a JSON pointer: `/message/content` is `message.content`, `/user_ids/3` is
 * `user_ids[3]`; the empty pointer is `whole`.
 */
export function fieldName(pointer: string, whole = 'The body'): string {
  if (pointer === '') return whole;
  const [first = '', ...rest] = pointer.slice(1).split('/').map(readToken);
  return `\`${first}${rest.map((step) => (index.test(step) ? `[${step}]` : `.${step}`)).join('')}\``;
}

/** A property's name as a step of a JSON pointer. */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function readToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
