import { createCall, type Call } from '../../shared/call.ts';
import { Live } from '../../shared/live.ts';

/** A person who is signed in, and belongs to the account of the inbox. */
export interface Member {
  /** Who the person is in the account. */
  agentId: number;
  accountId: number;
  name: string;
  isAdministrator: boolean;
  call: Call;
  live: Live;
}

/** Who looks at the inbox's page; null for everybody who is not signed in, or may not see the inbox. */
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
