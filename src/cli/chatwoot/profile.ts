import { OperatorError } from '../../lib/operator-error.ts';
import { printable } from '../../lib/text/printable.ts';
import type { ChatwootClient } from './client.ts';
import { idOf, recordOf, textOf, type Foreign } from './values.ts';

/**
 * Returns the id of the wanted Chatwoot account. Throws OperatorError if the token's owner is no administrator there, or has
 * several accounts and none is named.
 */
export async function findAccount(client: ChatwootClient, wanted: number | undefined): Promise<number> {
  const answer = recordOf(await client.get('/profile'));
  const listed = answer['accounts'];
  if (!Array.isArray(listed))
    throw new OperatorError(`What answers at ${client.base} is no Chatwoot server: it has no profile with accounts.`);
  const accounts = listed.map(recordOf).filter(({ id }) => idOf(id) !== null);
  const [account, ...others] = wanted === undefined ? accounts : accounts.filter(({ id }) => idOf(id) === wanted);
  if (!account)
    throw new OperatorError(`The token's holder has no account${wanted === undefined ? '' : ` ${wanted}`} there.`);
  if (others.length > 0)
    throw new OperatorError(`Which account? Give --account: ${accounts.slice(0, 20).map(nameOf).join(', ')}.`);
  // Others see their own inboxes alone.
  if (account['role'] !== 'administrator')
    throw new OperatorError(`The token must be that of an administrator of the account ${nameOf(account)}.`);
  return idOf(account['id']) ?? 0;
}

function nameOf({ id, name }: Foreign): string {
  return printable(`${idOf(id)} (${textOf(name, 64) ?? 'without a name'})`);
}
