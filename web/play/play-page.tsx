import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { createCall } from '../shared/call.ts';
import { readPlay, setPlayMode, type PlayState } from '../shared/play.ts';
import { sentenceOf, ServiceError } from '../shared/service-error.ts';
import { tellTabs } from '../shared/tabs.ts';
import { TokenForm } from '../shared/token-form.tsx';
import { Modes } from './modes.tsx';
import { PostEntry } from './post-entry.tsx';
import { placeOf, withPosts, type Posts } from './posts.ts';

const pollMs = 1_000;
const againMs = 5_000;
const call = createCall({ account: () => null });

/** `unknown`: the service did not say it. */
type Who = 'asking' | 'unknown' | 'nobody' | 'somebody';

/** The page of the built-in receiver: how it answers, and what arrived; for administrators who are signed in. */
export function PlayPage() {
  const [who, setWho] = useState<Who>('asking');
  const [notice, setNotice] = useState<string | null>(null);
  const say = (error: unknown): void => setNotice(sentenceOf(error));
  async function ask(): Promise<void> {
    try {
      const { profile } = await call('GET /sign_in');
      setNotice(null);
      setWho(profile ? 'somebody' : 'nobody');
    } catch (error) {
      say(error);
      setWho('unknown');
    }
  }
  useEffect(() => void ask(), []);
  useEffect(() => {
    if (who !== 'unknown') return undefined;
    const timer = setInterval(() => void ask(), againMs);
    return () => clearInterval(timer);
  }, [who]);
  function changed(now: Who): void {
    setWho(now);
    tellTabs();
  }
  async function signIn(token: string): Promise<void> {
    setNotice(null);
    await call('POST /sign_in', { body: { access_token: token } }).then(() => changed('somebody'), say);
  }
  async function signOut(): Promise<void> {
    setNotice(null);
    // Nothing is read meanwhile: it would be refused.
    setWho('asking');
    await call('DELETE /sign_in').then(
      () => changed('nobody'),
      (error: unknown) => {
        say(error);
        setWho('somebody');
      },
    );
  }
  return (
    <main>
      <header>
        <h1>Built-in receiver</h1>
        <p>
          A test endpoint for webhooks. It verifies signatures, responds as you choose, and keeps the last 200 requests
          until the service stops.
        </p>
        {who === 'somebody' && (
          <p class="ways">
            <a href="/console">Console</a>
            <button type="button" onClick={() => void signOut()}>
              Sign out
            </button>
          </p>
        )}
      </header>
      {notice !== null && <p role="alert">{notice}</p>}
      {who === 'unknown' && (
        <button type="button" onClick={() => void ask()}>
          Try again
        </button>
      )}
      {who === 'nobody' && (
        <>
          <TokenForm signIn={signIn} />
          <p class="hint">
            The first start printed a token. <code>npx switchboard token</code> creates another one.
          </p>
        </>
      )}
      {who === 'somebody' && (
        <Log
          leave={(message) => {
            setWho('nobody');
            setNotice(message);
          }}
        />
      )}
    </main>
  );
}

/** Received requests, polled each second. `leave` is called when the session has ended. */
function Log({ leave }: { leave: (message: string) => void }) {
  const [state, setState] = useState<PlayState | null>(null);
  const [posts, setPosts] = useState<Posts>([]);
  const [notice, setNotice] = useState<string | null>(null);
  const [isRefused, setRefused] = useState(false);
  // Shown until the service has taken it.
  const [chosen, setChosen] = useState<string | null>(null);
  const choices = useRef({ made: 0, taken: 0, latest: Promise.resolve() });
  function show(read: PlayState, isOfNow = true): void {
    setState((before) => (isOfNow || !before ? read : { ...read, mode: before.mode }));
    setNotice(read.problem);
    setPosts((known) => withPosts(known, read));
  }
  function fail(error: unknown): void {
    const status = error instanceof ServiceError ? error.status : 0;
    if (status === 401) return leave(sentenceOf(error));
    setRefused(status === 403);
    setNotice(status === 0 ? 'The service is not responding. Retrying…' : sentenceOf(error));
  }
  async function take(mode: string, choice: number): Promise<void> {
    await setPlayMode(mode).then((read) => show(read), fail);
    choices.current.taken = choice;
    if (choice === choices.current.made) setChosen(null);
  }
  // Sent one after the other, so that the last one holds.
  function choose(mode: string): void {
    const { current } = choices;
    current.made += 1;
    const { made } = current;
    setChosen(mode);
    current.latest = current.latest.then(() => take(mode, made));
  }
  const place = useRef(0);
  place.current = placeOf(posts);
  // At once, not after painting: who is signed out asks no more.
  useLayoutEffect(() => {
    // A refused person stays refused: polling stops.
    if (isRefused) return undefined;
    const ending = new AbortController();
    const { signal } = ending;
    let timer = 0;
    const look = async (): Promise<void> => {
      const { made, taken } = choices.current;
      // A response to a request from before a choice has the old mode.
      const isOfNow = (): boolean => made === taken && made === choices.current.made;
      await readPlay(place.current, signal).then(
        (read) => signal.aborted || show(read, isOfNow()),
        (error: unknown) => signal.aborted || fail(error),
      );
      if (!signal.aborted) timer = window.setTimeout(() => void look(), pollMs);
    };
    void look();
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [isRefused]);
  return (
    <>
      {notice !== null && <p role="alert">{notice}</p>}
      {state && (
        <section>
          <p>
            Send webhooks to <code>{state.url}</code>
          </p>
          <Modes mode={chosen ?? state.mode} modes={state.modes} choose={choose} />
          <h2>Requests</h2>
          {posts.length === 0 && (
            <p>No requests yet. Write a message in a conversation, or send a test from the webhook.</p>
          )}
          <ol>
            {posts.map((post) => (
              <PostEntry key={post.id} post={post} />
            ))}
          </ol>
        </section>
      )}
    </>
  );
}
