import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { beginSession, call } from '../../session.ts';
import { browserOf } from './browser-name.ts';

export type Held = Reply<'GET /api/v1/profile/access_tokens'>['payload'][number];

/** Returns the credentials of the signed-in person: sign-ins of browsers, or access tokens. */
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
  async function endOthers(): Promise<void> {
    await call('DELETE /api/v1/profile/sign_ins');
    await signIns.reload();
  }
  return (
    <Page title="Sign-ins">
      <p>
        Browsers where you are signed in. Sign out any that you do not recognize, then{' '}
        <a href="/console/settings/security">change your password</a> and{' '}
        <a href="/console/settings/tokens">reset your access token</a>.
      </p>
      <p>
        <Action
          question="All other browsers are signed out. This one stays signed in."
          done="Signed out everywhere else."
          act={endOthers}
        >
          Sign out everywhere else
        </Action>
      </p>
      <Show of={signIns}>
        {(rows) => (
          <Table
            caption="Your sign-ins, newest first"
            rows={rows}
            keyOf={({ id }) => id}
            empty={<p>No sign-ins.</p>}
            columns={[
              { title: 'Browser', kind: 'text', cell: (row) => <BrowserName of={row} /> },
              { title: 'Cookie', cell: ({ last_four: end }) => <code>…{end}</code> },
              { title: 'Signed in', kind: 'fit', cell: ({ created_at: at }) => <Time at={at} /> },
              { title: 'Expires', kind: 'fit', cell: ({ expires_at: at }) => <Time at={at} /> },
              {
                title: 'Actions',
                kind: 'fit',
                cell: (row) => (
                  <Action
                    kind="danger"
                    label={`Sign out …${row.last_four}`}
                    {...(row.current ? { question: 'You are signed out of this browser.' } : {})}
                    act={() => endOf(row)}
                    done="Signed out."
                  >
                    {' '}
                    Sign out{' '}
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
      <span title={name ?? undefined}>{browserOf(name)}</span> {current && <span class="badge good">this browser</span>}
    </>
  );
}
