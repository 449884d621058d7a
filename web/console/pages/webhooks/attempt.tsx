import { useState } from 'preact/hooks';
import { Code } from '../../kit/code.tsx';
import { Time } from '../../kit/time.tsx';
import type { Reply } from '../../../shared/call.ts';
import { AttemptTimes } from './attempt-times.tsx';
import { errorInWords } from './states.tsx';

type Attempt = Reply<'GET deliveries/:id'>['attempts'][number];

/** An attempt of a delivery: request, response and times. */
export function AttemptView({ attempt, isLast }: { attempt: Attempt; isLast: boolean }) {
  const { number, started_at: at, error, request, response, times } = attempt;
  return (
    <section class="panel attempt" aria-label={`Attempt ${number}`}>
      <h2>
        Attempt {number} {error ? <span class="badge bad">failed</span> : <span class="badge good">delivered</span>}
      </h2>
      <p>
        Started <Time at={at} />. {response ? `Response ${response.status}.` : 'No response.'}{' '}
        {error && `${errorInWords(error.class)} (${error.detail}).`}
      </p>
      <AttemptTimes times={times} />
      <details open={isLast}>
        <summary>Request</summary>
        <Exchanged what="Request" number={number} {...request} />
      </details>
      {response && (
        <details open={isLast}>
          <summary>Response</summary>
          <Exchanged what="Response" number={number} {...response} />
        </details>
      )}
    </section>
  );
}

interface ExchangedProps {
  what: string;
  number: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

function Exchanged({ what, number, headers, body }: ExchangedProps) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <>
      {lines.length === 0 ? <p>No headers.</p> : <Code label={`${what} ${number} headers`} text={lines.join('\n')} />}
      {body === '' ? <p>No body, or not text.</p> : <Content label={`${what} ${number} body`} body={body} />}
    </>
  );
}

/** A body as it came, which can be indented where it is JSON: signatures are of the bytes. */
export function Content({ label, body }: { label: string; body: string }) {
  const indented = indent(body);
  const [isIndented, setIndented] = useState(indented !== null);
  return (
    <>
      {indented !== null && indented !== body && (
        <label class="check">
          <input
            type="checkbox"
            checked={isIndented}
            onChange={({ currentTarget }) => setIndented(currentTarget.checked)}
          />
          Pretty-print
        </label>
      )}
      <Code label={label} text={isIndented && indented !== null ? indented : body} />
    </>
  );
}

function indent(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}
