import { addAgent, createAccount, createUser, grantToken } from '../../src/domain/people/users.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { hashToken, lastFour, newToken } from '../../src/lib/secrets/tokens.ts';
import type { TestApp } from './app.ts';

/** A caller: id, and a header with the access token. */
export interface Person {
  id: number;
  headers: { api_access_token: string };
}

/** A person with an address. */
export interface User extends Person {
  email: string;
}

/** Adds a confirmed user to an account, by default as `agent` of account 1. */
export async function addPerson(
  app: TestApp,
  { name, role = 'agent', accountId = 1 }: { name: string; role?: 'administrator' | 'agent'; accountId?: number },
): Promise<User> {
  return app.app.database.transaction(async (sql) => {
    const now = new Date();
    const email = `${name.toLowerCase().replaceAll(/\W+/g, '.')}.${accountId}@example.com`;
    const user = await createUser(sql, { name, email, confirmed: true, platformAdmin: false }, now);
    await addAgent(sql, { accountId, userId: user.id, role, now });
    const token = newToken('user', systemRandom);
    await grantToken(sql, user.id, token, now);
    return { id: user.id, email, headers: { api_access_token: token } };
  });
}

/** Adds another account with its administrator. */
export async function addAccount(app: TestApp, name: string): Promise<{ id: number; administrator: User }> {
  const account = await createAccount(app.app.database.sql, name, new Date());
  const administrator = await addPerson(app, { name: `${name} admin`, role: 'administrator', accountId: account.id });
  return { id: account.id, administrator };
}

/** Grants a token to the first bot of account 1. */
export async function botHeaders(app: TestApp): Promise<{ api_access_token: string }> {
  const token = newToken('bot', systemRandom);
  await app.query(
    `INSERT INTO access_tokens (agent_bot_id, token_hash, last_four)
     SELECT min(id), $1, $2 FROM agent_bots WHERE account_id = 1`,
    [hashToken(token), lastFour(token)],
  );
  return { api_access_token: token };
}
