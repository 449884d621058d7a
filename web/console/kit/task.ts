import { useEffect } from 'preact/hooks';
import { sentenceOf } from '../../shared/service-error.ts';
import { Store, useStore } from '../../shared/store.ts';
import { currentAccount, currentPerson, session } from '../session.ts';
import { toast } from './toast.tsx';

/** How something stands that takes long. */
export interface TaskState<Progress> {
  /** When it began, in milliseconds; null when nothing runs. */
  since: number | null;
  /** How far it is, or how far it came; null before anything is known. */
  progress: Progress | null;
  /** Why it ended before its end; null otherwise. */
  error: string | null;
}

/** Parameters of the work of a task. */
export interface TaskRun<Progress> {
  signal: AbortSignal;
  told: (progress: Progress) => void;
}

interface Ending {
  /** Said to whoever is at another page when it is done. */
  done: string;
  /** The work ends with the tab: the browser asks before the tab is closed. */
  endsWithTab?: true;
}

const nothing = { since: null, progress: null, error: null };

/**
 * Something that one person does in one account, and that takes long: it goes on when its page is left, and whoever comes
 * back sees how far it is or how it ended. It ends when the person signs out, becomes another, or changes the account.
 */
export class Task<Progress> {
  readonly state = new Store<TaskState<Progress>>(nothing);
  #running: AbortController | null = null;
  #watched = 0;
  /** For whom it runs, and where; null when it is forgotten. */
  #owner: string | null = null;

  constructor() {
    session.watch(() => {
      if (this.#owner !== null && present() !== this.#owner) this.#forget();
    });
  }

  /** Runs it, unless it runs already. What goes wrong is in the state. */
  async start(work: (run: TaskRun<Progress>) => Promise<void>, { done, endsWithTab }: Ending): Promise<void> {
    if (this.#running) return;
    const own = new AbortController();
    this.#running = own;
    this.#owner = present();
    if (endsWithTab) addEventListener('beforeunload', warn);
    this.state.set({ ...nothing, since: Date.now() });
    const told = (progress: Progress): void => {
      if (this.#running === own) this.state.set({ ...this.state.value, progress });
    };
    let error: string | null = null;
    try {
      await work({ signal: own.signal, told });
    } catch (thrown) {
      error = own.signal.aborted ? 'Stopped.' : sentenceOf(thrown);
    }
    if (this.#running === own) this.#end(error, done);
  }

  /** Ends it where it is; what it did stays done. */
  stop(): void {
    this.#running?.abort();
  }

  /** Suppresses the toast at the end, as the state is being watched. Returns the function that stops watching. */
  watch(): () => void {
    this.#watched += 1;
    return () => {
      this.#watched -= 1;
    };
  }

  #end(error: string | null, done: string): void {
    this.#running = null;
    removeEventListener('beforeunload', warn);
    this.state.set({ ...this.state.value, since: null, error });
    if (this.#watched === 0) toast(error ?? done, error === null ? 'info' : 'error');
  }

  // Nothing of one account goes on in another, or is seen there, and nothing of one person as another.
  #forget(): void {
    this.#running?.abort();
    this.#running = null;
    this.#owner = null;
    removeEventListener('beforeunload', warn);
    this.state.set(nothing);
  }
}

/** How a task stands, for a page that shows it. */
export function useTask<Progress>(task: Task<Progress>): TaskState<Progress> {
  useEffect(() => task.watch(), [task]);
  return useStore(task.state);
}

function present(): string {
  return `${currentPerson()} ${currentAccount()?.id}`;
}

function warn(event: Event): void {
  event.preventDefault();
}
