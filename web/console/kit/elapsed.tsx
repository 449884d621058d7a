import { useEffect, useState } from 'preact/hooks';

const shownAfter = 2;

/** For how long something goes on; nothing in the first seconds. Readers of the screen are not told each second. */
export function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((now - since) / 1_000);
  if (seconds < shownAfter) return null;
  return (
    <small class="elapsed" aria-hidden="true">
      {seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`}
    </small>
  );
}
