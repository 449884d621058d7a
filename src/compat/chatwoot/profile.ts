import { listOf } from './json.ts';
import type { Json, Operation } from './operation.ts';

const path = '/api/v1/profile';

/**
 * The caller as they tell it. Their people have one id in all accounts, and are assigned by it: here it is that of the agent
 * who the caller is in the first account.
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

/** Who calls. */
export const profileOperations: readonly Operation[] = [
  { method: 'GET', path, answer: theirProfile },
  { method: 'POST', path: `${path}/reset_access_token`, answer: theirProfile },
];
