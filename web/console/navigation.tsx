import { Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useStore } from '../shared/store.ts';
import { sentenceOf } from '../shared/service-error.ts';
import { toast } from './kit/toast.tsx';
import { goToAccount, place } from './router.ts';
import { addressOf, loadSavedViews, savedViews, viewAt } from './saved-views.ts';
import { sections } from './sections.ts';
import { useRepeat } from './kit/repeat.ts';
import { loadUnread, unread } from './unread.ts';
import { live, mayOpen, signOut, type Membership, type Profile } from './session.ts';

/** Saved views stand below the list that they filter. */
const conversations = '/console/conversations';
const notifications = '/console/notifications';
const unreadMs = 30_000;

interface Props {
  profile: Profile;
  account: Membership | null;
}

/** The console's navigation: links to the views that the person may open, who that is, and the way out. */
export function Navigation({ profile, account }: Props) {
  const { path, query } = useStore(place);
  const views = useStore(savedViews);
  const count = useStore(unread);
  const view = path === conversations ? viewAt(query, views) : undefined;
  const nav = useRef<HTMLElement>(null);
  useEffect(() => showPresent(nav.current), [path, view]);
  useEffect(() => {
    savedViews.set([]);
    // The navigation is of use without them.
    if (account) loadSavedViews().catch(() => undefined);
  }, [profile.id, account?.id]);
  const look = () => loadUnread().catch(() => undefined);
  useEffect(() => {
    if (account) void look();
    else unread.set(0);
  }, [profile.id, account?.id, path]);
  useRepeat(account !== null, look, unreadMs);
  const shown = sections.flatMap(({ title, rows }) => {
    const links = rows.filter((row) => row.nav && mayOpen(row));
    return links.length > 0 ? [{ title, links }] : [];
  });
  return (
    <header class="side">
      <a class="brand" href="/console">
        Switchboard
      </a>
      <nav ref={nav} aria-label="Console">
        {account &&
          shown.map(({ title, links }) => (
            <div key={title} role="group" aria-label={title}>
              <p class="group">{title}</p>
              {links.map((row) => (
                <Fragment key={row.path}>
                  <a href={row.path} aria-current={isAt(path, row.path) && !view ? 'page' : undefined}>
                    {row.nav}
                    {row.path === notifications && count > 0 && (
                      <>
                        {' '}
                        <b>{count} unread</b>
                      </>
                    )}
                  </a>
                  {row.path === conversations &&
                    views.map((one) => (
                      <a
                        key={one.id}
                        class="view"
                        href={addressOf(one)}
                        title={one.name}
                        dir="auto"
                        aria-current={one === view ? 'page' : undefined}
                      >
                        {one.name}
                      </a>
                    ))}
                </Fragment>
              ))}
            </div>
          ))}
      </nav>
      <div class="person">
        <Accounts profile={profile} account={account} />
        <span>
          {profile.name}
          {account && <small>{account.role}</small>}
        </span>
        <LiveMark />
        <button type="button" onClick={() => void leave()}>
          Sign out
        </button>
      </div>
    </header>
  );
}

function Accounts({ profile, account }: Props) {
  if (profile.accounts.length < 2) return <strong>{account?.name}</strong>;
  return (
    <select
      aria-label="Account"
      value={account?.id ?? ''}
      onChange={({ currentTarget }) => goToAccount(Number(currentTarget.value))}
    >
      {!account && <option value="">–</option>}
      {profile.accounts.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

// Whether events arrive, where a view listens to them, and why not.
function LiveMark() {
  const state = useStore(live.state);
  const problem = useStore(live.problem);
  const absence = problem === null ? '' : `Offline: no live updates. ${problem}`;
  return <small role="status">{state === 'live' ? 'Live' : absence}</small>;
}

// Scrolls the navigation alone: the page stays where it is.
function showPresent(nav: HTMLElement | null): void {
  const link = nav?.querySelector<HTMLElement>('[aria-current=page]');
  if (!nav || !link) return;
  nav.scrollTop = link.offsetTop - nav.clientHeight / 2;
  nav.scrollLeft = link.offsetLeft - nav.clientWidth / 2;
}

function isAt(path: string, own: string): boolean {
  return path === own || path.startsWith(`${own}/`);
}

async function leave(): Promise<void> {
  try {
    await signOut();
  } catch (error) {
    toast(sentenceOf(error), 'error');
  }
}
