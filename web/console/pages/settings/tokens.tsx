import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
import { Code } from '../../kit/code.tsx';
import { Page } from '../../kit/page.tsx';
import { call, renew } from '../../session.ts';

/** The access token of the person: a new one in place of all others. */
export function TokensPage() {
  const [token, setToken] = useState<string | null>(null);
  async function reset(): Promise<void> {
    const { access_token: made } = await call('POST /api/v1/profile/reset_access_token');
    // Shown before anything can fail: the old token is gone, and the old sign-in with it.
    setToken(made);
    await renew(made);
  }
  return (
    <Page title="Access token">
      <p>
        Programs that call the API as you send your access token in the header <code>api_access_token</code>. It is
        stored as a hash, so nobody can show it to you again; a new one can take its place.
      </p>
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
      <p>Bots have access tokens of their own, which are reset where the bot is.</p>
    </Page>
  );
}
