import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
import { Code } from '../../kit/code.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { call, renew } from '../../session.ts';
import { readHeld, type Held } from './sign-ins.tsx';

/** The access token of the person: which there is, its end, and a new one in place of all others. */
export function TokensPage() {
  const [token, setToken] = useState<string | null>(null);
  const held = useLoad((signal) => readHeld('access_token', signal));
  async function reset(): Promise<void> {
    await renew(async () => {
      const { access_token: made } = await call('POST /api/v1/profile/reset_access_token');
      // Shown before anything can fail: the old token is gone, and the old sign-in with it.
      setToken(made);
      return made;
    });
    await held.reload();
  }
  return (
    <Page title="Access token">
      <p>
        Use your access token to call the API, in the header <code>api_access_token</code>. Only a hash is stored. If
        you lose the token, reset it.
      </p>
      <Show of={held}>{(rows) => <Tokens rows={rows} changed={held.reload} />}</Show>
      {token !== null && (
        <>
          <Code label="New access token" text={token} />
          <p class="note">Shown only once. Store it in a safe place now.</p>
        </>
      )}
      <Action
        kind="danger"
        question="Programs that use your current token lose access, and you are signed out of all other browsers."
        done="Access token reset."
        act={reset}
      >
        {' '}
        Reset access token{' '}
      </Action>
      <p>
        Tokens of bots are reset on the page of the bot. To see where you are signed in, open{' '}
        <a href="/console/settings/sign-ins">sign-ins</a>.
      </p>
    </Page>
  );
}

function Tokens({ rows, changed }: { rows: readonly Held[]; changed: () => Promise<void> }) {
  const revoke = async (id: number): Promise<void> => {
    await call('DELETE /api/v1/profile/access_tokens/:id', { id });
    await changed();
  };
  return (
    <Table
      caption="Your access tokens"
      rows={rows}
      keyOf={({ id }) => id}
      empty={<p>No access token. Reset it to create one.</p>}
      columns={[
        { title: 'Token', cell: ({ last_four: end }) => <code>…{end}</code> },
        { title: 'Created', kind: 'fit', cell: ({ created_at: at }) => <Time at={at} /> },
        {
          title: 'Actions',
          kind: 'fit',
          cell: ({ id, last_four: end }) => (
            <Action
              kind="danger"
              label={`Revoke …${end}`}
              question="Programs that use this token lose access. You stay signed in."
              done="Access token revoked."
              act={() => revoke(id)}
            >
              Revoke
            </Action>
          ),
        },
      ]}
    />
  );
}
