import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { toast } from '../../kit/toast.tsx';
import { call, currentAccount, nameAccount } from '../../session.ts';
import { ModelServer } from './model-server.tsx';

export type Account = Reply<'GET /api/v1/accounts/:account_id'>;

/** The account itself: its name, and the model server that its bots ask. */
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
          </>
        )}
      </Show>
    </Page>
  );
}

function NameForm({ account, changed }: { account: Account; changed: (account: Account) => void }) {
  const [name, setName] = useState(account.name);
  async function send(): Promise<void> {
    const saved = await call('PATCH /api/v1/accounts/:account_id', { account_id: account.id, body: { name } });
    changed(saved);
    nameAccount(saved);
    toast('Saved.');
  }
  return (
    <Form submit="Rename" send={send}>
      {(problemOf) => (
        <TextField
          label="Name"
          hint="Bots and webhooks are told it."
          required
          value={name}
          onChange={setName}
          problem={problemOf('name')}
        />
      )}
    </Form>
  );
}
