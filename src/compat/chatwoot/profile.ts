import { listOf } from './json.ts';
import type { Json, Operation } from './operation.ts';

const path = '/api/v1/profile';

/**
 * Returns the caller in Chatwoot's fields. People have one id in all accounts there, and are assigned by it: here it is the id
 * of the caller's agent in the first account.
 */
function theirProfile(profile: Json): Json {
  const accounts = listOf(profile['accounts']);
  const [first] = accounts;
  const { name, email, avatar_url: picture } = profile;
  return {
    ...profile,
    id: first?.['agent_id'] ?? profile['id'],
    available_name: name,
    display_name: name,
    uid: email,
    avatar_url: picture ?? '',
    thumbnail: picture ?? '',
    availability_status: first?.['availability'] ?? 'offline',
    ui_settings: {},
    accounts: accounts.map(theirAccount),
  };
}

function theirAccount(account: Json): Json {
  const { availability, role } = account;
  return { ...account, availability_status: availability, status: 'active', permissions: [role] };
}

/** Operations on the caller. */
export const profileOperations: readonly Operation[] = [
  { method: 'GET', path, answer: theirProfile },
  { method: 'POST', path: `${path}/reset_access_token`, answer: theirProfile },
];
