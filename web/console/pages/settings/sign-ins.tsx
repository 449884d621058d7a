import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { beginSession, call, isAdministrator } from '../../session.ts';
import { browserOf } from './browser-name.ts';

export type Held = Reply<'GET /api/v1/profile/access_tokens'>['payload'][number];

/** What lets somebody act as the person who is signed in: sign-ins in browsers, and access tokens. */
export async function readHeld(kind: Held['kind'], signal: AbortSignal): Promise<Held[]> {
  const { payload } = await call('GET /api/v1/profile/access_tokens', { signal });
  return payload.filter((held) => held.kind === kind);
}

/** The browsers in which the person is signed in; each can be signed out. */
export function SignInsPage() {
  const signIns = useLoad((signal) => readHeld('sign_in', signal));
  async function endOf({ id, current }: Held): Promise<void> {
    await call('DELETE /api/v1/profile/access_tokens/:id', { id });
    await (current ? beginSession() : signIns.reload());
  }
  return (
    <Page title="Sign-ins">
      <p>
        The browsers in which you are signed in. End what you do not know
        {isAdministrator() && (
          <>
            , and then <a href="/console/settings/tokens">reset your access token</a>: somebody has signed in with it
          </>
        )}
        .
      </p>
      <Show of={signIns}>
        {(rows) => (
          <Table
            caption="Your sign-ins, the newest first"
            rows={rows}
            keyOf={({ id }) => id}
            empty={<p>You are signed in in no browser.</p>}
            columns={[
              { title: 'Browser', cell: (row) => <BrowserName of={row} /> },
              { title: 'Cookie', cell: ({ last_four: end }) => <code>…{end}</code> },
              { title: 'Signed in', cell: ({ created_at: at }) => <Time at={at} /> },
              { title: 'Ends by itself', cell: ({ expires_at: at }) => <Time at={at} /> },
              {
                title: 'Actions',
                cell: (row) => (
                  <Action
                    kind="danger"
                    label={`End the sign-in …${row.last_four}`}
                    {...(row.current ? { question: 'It is the one that you are using now.' } : {})}
                    act={() => endOf(row)}
                    done="The sign-in has ended."
                  >
                    End
                  </Action>
                ),
              },
            ]}
          />
        )}
      </Show>
    </Page>
  );
}

function BrowserName({ of: { user_agent: name, current } }: { of: Held }) {
  return (
    <>
      <span title={name ?? undefined}>{browserOf(name)}</span> {current && <span class="badge good">this one</span>}
    </>
  );
}
