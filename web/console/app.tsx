import { Fragment } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { useStore } from '../shared/store.ts';
import { confirmDiscard, Dialogs } from './kit/dialog.tsx';
import { Navigation } from './navigation.tsx';
import { HoldBar } from './hold-bar.tsx';
import type { PageRow } from './page-row.ts';
import { Sentence } from './kit/sentence.tsx';
import { hasUnsaved, warnBeforeUnload } from './kit/unsaved.ts';
import { FailedPage } from './failed-page.tsx';
import { followLinks, go, keepAccountInLinks, match, place } from './router.ts';
import { sections } from './sections.ts';
import { beginSession, mayOpen, session, type Membership } from './session.ts';
import { CodePage } from './code-page.tsx';
import { SignInPage } from './sign-in-page.tsx';

const rows = sections.flatMap((section) => section.rows);

/** The console: the page for signing in, or the navigation and the view of the present address. */
export function App() {
  useEffect(() => {
    followLinks(() => !hasUnsaved() || confirmDiscard());
    warnBeforeUnload();
    keepAccountInLinks();
    // A link that is pasted where the console is open loads no page.
    addEventListener('hashchange', () => location.hash.startsWith('#link=') && void beginSession());
    void beginSession();
  }, []);
  const current = useStore(session);
  if (current.state === 'asking') return <p class="waiting" role="status" aria-label="Loading" />;
  if (current.state === 'unknown') return <FailedPage message={current.message} />;
  if (current.state === 'out') {
    const { message, proof } = current;
    return proof ? <CodePage message={message} proof={proof} /> : <SignInPage message={message} />;
  }
  const { profile, account } = current;
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <HoldBar />
      <Navigation profile={profile} account={account} />
      {/* Nothing of another account or person stays on the screen. */}
      <View key={`${profile.id} ${account?.id}`} account={account} accounts={profile.accounts} />
      <Dialogs />
    </>
  );
}

function View({ account, accounts }: { account: Membership | null; accounts: readonly Membership[] }) {
  const { path, query } = useStore(place);
  const isHome = path === '/console' || path === '/console/';
  // Before anybody can press a link, which this would else take back.
  useLayoutEffect(() => {
    const first = rows.find((row) => row.nav !== undefined && mayOpen(row));
    if (isHome && first) go(first.path + location.search, { replace: true });
  }, [isHome, account]);
  const found = findRow(path);
  if (account === null) return <NoAccount accounts={accounts} />;
  if (isHome) return null;
  if (!found) return <Sentence title="Not found">This page does not exist.</Sentence>;
  const { row, parameters } = found;
  if (!mayOpen(row)) return <Refusal row={row} />;
  const Shown = row.view;
  return <Shown key={path} parameters={parameters} query={query} />;
}

function NoAccount({ accounts }: { accounts: readonly Membership[] }) {
  if (accounts.length === 0)
    return (
      <Sentence title="No account">You are not a member of any account. Ask an administrator to invite you.</Sentence>
    );
  return (
    <Sentence title="Account not found">
      {' '}
      This account does not exist, or you are not a member of it. Your accounts:{' '}
      {accounts.map(({ id, name }, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <a href={`/console?account=${id}`}>{name}</a>
        </Fragment>
      ))}
    </Sentence>
  );
}

function Refusal({ row: { administrators } }: { row: PageRow }) {
  return administrators ? (
    <Sentence title="Permission denied">Only administrators can open this page.</Sentence>
  ) : (
    <Sentence title="Permission denied">Only platform administrators can open this page.</Sentence>
  );
}

// Literal parts of a path go before parameters.
function findRow(path: string): { row: PageRow; parameters: Record<string, string> } | null {
  const found = rows.flatMap((row) => {
    const parameters = match(row.path, path);
    return parameters ? [{ row, parameters }] : [];
  });
  return (
    found.toSorted((one, other) => Object.keys(one.parameters).length - Object.keys(other.parameters).length)[0] ?? null
  );
}
