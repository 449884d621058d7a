import { invalid } from '../../errors.ts';

const ownerFields = ['inbox_id', 'automation_id', 'agent_bot_id'] as const;

/** A request that may name the bot, the automation or the channel inbox that owns hooks or runs. */
type Owned = { readonly [Field in (typeof ownerFields)[number]]?: number | null | undefined };

/** Throws 422 when a request names two owners. Called when the owner was found: ids that the account does not have answer 404 first. */
export function checkOneOwner(request: Owned): void {
  const [, second] = ownerFields.filter((field) => typeof request[field] === 'number');
  if (second === undefined) return;
  throw invalid(`/${second}`, 'one', 'Only one of agent_bot_id, automation_id and inbox_id can be given');
}
