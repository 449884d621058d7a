import { createCall, type Call } from '../../shared/call.ts';
import { Live } from '../../shared/live.ts';

/** A person who is signed in, and belongs to the account of the inbox. */
export interface Member {
  /** Agent id of the person in the account. */
  agentId: number;
  accountId: number;
  name: string;
  isAdministrator: boolean;
  call: Call;
  live: Live;
}

/** Returns the member who views the page; null without a session or access to the inbox. */
export async function findMember(identifier: string): Promise<Member | null> {
  const { profile } = await createCall({ account: () => null })('GET /sign_in');
  for (const { id, agent_id: agentId, role } of profile?.accounts ?? []) {
    const account = () => id;
    const call = createCall({ account, person: () => profile?.id ?? null });
    const { payload } = await call('GET inboxes');
    if (!payload.some((inbox) => inbox.identifier === identifier)) continue;
    return {
      agentId,
      accountId: id,
      name: profile?.name ?? '',
      isAdministrator: role === 'administrator',
      call,
      live: new Live({ call, account }),
    };
  }
  return null;
}
