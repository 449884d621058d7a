import { useLoad } from './kit/load.tsx';
import { useRepeat } from './kit/repeat.ts';
import { call } from './session.ts';

const everyMs = 60_000;

const sentences = {
  copy: 'This database is a copy of an installation elsewhere. Nothing is sent: deliveries wait, mail is only logged.',
  off: 'Outbound traffic is off. Nothing is sent: deliveries wait, mail is only logged.',
} as const;

/** A bar above all pages while the service sends nothing. */
export function HoldBar() {
  const { value, reload } = useLoad((signal) => call('GET /readyz', { signal }));
  useRepeat(true, reload, everyMs);
  if (!value?.reason) return null;
  return (
    <p class="hold" role="status">
      {sentences[value.reason]}
    </p>
  );
}
