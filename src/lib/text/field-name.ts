const index = /^\d+$/;

/**
 * The name of the value at a JSON pointer, for messages: `message.content` for `/message/content`, `user_ids[3]` for
 * `/user_ids/3`, and `whole` for the empty pointer.
 */
export function fieldName(pointer: string, whole = 'The body'): string {
  if (pointer === '') return whole;
  const [first = '', ...rest] = pointer.slice(1).split('/').map(readToken);
  return `\`${first}${rest.map((step) => (index.test(step) ? `[${step}]` : `.${step}`)).join('')}\``;
}

/** A property's name, escaped as a step of a JSON pointer. */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function readToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
