import type { Reply } from '../../../shared/call.ts';
import { useDraft } from '../../kit/draft.ts';
import { Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { toast } from '../../kit/toast.tsx';
import { call, currentAccount, nameAccount } from '../../session.ts';
import { ApprovedHosts } from './approved-hosts.tsx';
import { ModelServer } from './model-server.tsx';

export type Account = Reply<'GET /api/v1/accounts/:account_id'>;

/** The account itself: its name, the model server that its bots ask, and the hosts that their tools may call. */
export function AccountPage() {
  const id = currentAccount()?.id ?? 0;
  const account = useLoad((signal) => call('GET /api/v1/accounts/:account_id', { account_id: id, signal }), [id]);
  return (
    <Page title="Account">
      <Show of={account}>
        {(value) => (
          <>
            <div class="panel">
              <NameForm account={value} changed={account.set} />
            </div>
            <h2>Model server</h2>
            <ModelServer
              key={`${value.llm?.base_url} ${value.llm?.has_api_key}`}
              account={value}
              changed={account.set}
            />
            <h2>Tools</h2>
            <div class="panel">
              <ApprovedHosts account={value} changed={account.set} />
            </div>
          </>
        )}
      </Show>
    </Page>
  );
}

function NameForm({ account, changed }: { account: Account; changed: (account: Account) => void }) {
  const draft = useDraft('account name', { name: account.name });
  async function send(): Promise<void> {
    const saved = await call('PATCH /api/v1/accounts/:account_id', { account_id: account.id, body: draft.value });
    changed(saved);
    nameAccount(saved);
    draft.saved(draft.value);
    toast('Saved.');
  }
  return (
    <Form submit="Rename" send={send} draft={draft}>
      {(problemOf) => (
        <TextField
          label="Name"
          hint="Included in the payloads of bots and webhooks."
          required
          value={draft.value.name}
          onChange={(name) => draft.set({ name })}
          problem={problemOf('name')}
        />
      )}
    </Form>
  );
}
