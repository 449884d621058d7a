import { Store, useStore } from '../../shared/store.ts';

interface Toast {
  id: number;
  text: string;
  kind: 'info' | 'error';
}

const toasts = new Store<readonly Toast[]>([]);
const infoMs = 6_000;
const mostShown = 4;
let made = 0;

/** Says something in a corner of the page: errors until they are closed, all else for some seconds. */
export function toast(text: string, kind: Toast['kind'] = 'info'): void {
  made += 1;
  const id = made;
  toasts.set([...toasts.value.slice(1 - mostShown), { id, text, kind }]);
  if (kind === 'info') setTimeout(() => close(id), infoMs);
}

/** Where toasts are shown: in `Dialogs`, once. */
export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div class="toasts" aria-live="polite">
      {shown.map(({ id, text, kind }) => (
        <div key={id} class={`toast ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
          <p>{text}</p>
          <button type="button" aria-label="Dismiss" onClick={() => close(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

function close(id: number): void {
  toasts.set(toasts.value.filter((one) => one.id !== id));
}
