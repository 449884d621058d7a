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
        Programs that call the API as you send your access token in the header <code>api_access_token</code>. It is
        stored as a hash, so nobody can show it to you again; a new one can take its place.
      </p>
      <Show of={held}>{(rows) => <Tokens rows={rows} changed={held.reload} />}</Show>
      {token !== null && (
        <>
          <Code label="Your new access token" text={token} />
          <p class="note">It is shown only this once: keep it now, where others do not see it.</p>
        </>
      )}
      <Action
        kind="danger"
        question="All programs that use your present access token are refused from then on, and you are signed out everywhere else."
        done="Your access token was reset."
        act={reset}
      >
        Reset the access token
      </Action>
      <p>
        Bots have access tokens of their own, which are reset where the bot is. Where you are signed in is among your{' '}
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
      empty={<p>You have no access token. “Reset the access token” makes one.</p>}
      columns={[
        { title: 'Token', cell: ({ last_four: end }) => <code>…{end}</code> },
        { title: 'Made', cell: ({ created_at: at }) => <Time at={at} /> },
        {
          title: 'Actions',
          cell: ({ id, last_four: end }) => (
            <Action
              kind="danger"
              label={`Revoke …${end}`}
              question="Programs that use it are refused from then on, and it signs nobody in any more. Your sign-ins stay."
              done="The access token is revoked."
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
