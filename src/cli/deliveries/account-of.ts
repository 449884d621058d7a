import { OperatorError } from '../../lib/operator-error.ts';
import type { CallService } from '../../lib/service-client.ts';
import type { Shape } from '../../schemas.ts';
import type { ServiceOptions } from '../service.ts';

/** The options of commands on one account of the running service. */
export interface AccountOptions extends ServiceOptions {
  account?: number;
}

/** The path of the account that the options name, else of the first that the token's holder belongs to. */
export async function accountPathOf(call: CallService, { account }: AccountOptions): Promise<string> {
  if (account !== undefined) return `/api/v1/accounts/${account}`;
  const { accounts } = await call<Shape<'resources/profile'>>('GET', '/api/v1/profile');
  const [first] = accounts.map(({ id }) => id).sort((one, other) => one - other);
  if (first === undefined)
    throw new OperatorError('The holder of this token belongs to no account: give --token of an administrator of one.');
  return `/api/v1/accounts/${first}`;
}
