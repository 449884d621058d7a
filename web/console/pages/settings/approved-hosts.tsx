import { useDraft } from '../../kit/draft.ts';
import { Form, TextField } from '../../kit/form.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import type { Account } from './account.tsx';

/** The hosts that tools of the account's AI bots may call. */
export function ApprovedHosts({ account, changed }: { account: Account; changed: (account: Account) => void }) {
  const draft = useDraft('approved hosts', { hosts: account.approved_hosts.join('\n') });
  async function send(): Promise<void> {
    const hosts = draft.value.hosts
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    changed(
      await call('PATCH /api/v1/accounts/:account_id', { account_id: account.id, body: { approved_hosts: hosts } }),
    );
    draft.discard();
    toast('Approved hosts saved.');
  }
  return (
    <Form submit="Save approved hosts" send={send} draft={draft}>
      {(problemOf) => (
        <TextField
          label="Approved hosts"
          hint="Tools of AI bots call these hosts only, such as api.shop.example or api.shop.example:8443. One per line."
          rows={4}
          value={draft.value.hosts}
          onChange={(hosts) => draft.set({ hosts })}
          problem={problemOf('approved_hosts')}
        />
      )}
    </Form>
  );
}
