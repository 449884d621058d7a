import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Code } from '../../kit/code.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call } from '../../session.ts';
import { Content } from './attempt.tsx';
import { Outcome, reasonInWords, RequestState } from './hook.tsx';

type Detail = Reply<'GET hooks/:id/requests/:request_id'>;

/** Page of a request to a hook, with headers and body as they came. */
export function HookRequestPage({ parameters }: ViewProps) {
  const place = { id: Number(parameters['id']), request_id: Number(parameters['request_id']) };
  const request = useLoad(
    (signal) => call('GET hooks/:id/requests/:request_id', { ...place, signal }),
    [place.id, place.request_id],
  );
  useRepeat(request.value?.state === 'waiting', request.reload);
  const isKept = request.value !== null && request.value.body !== null;
  return (
    <Page
      title={`Request ${place.request_id}`}
      above={<a href={`/console/hooks/${place.id}`}>Hook {place.id}</a>}
      actions={
        isKept && (
          <Action
            done="The plugin gets the request again."
            act={async () => {
              await call('POST hooks/:id/requests/:request_id/resend', place);
              await request.reload();
            }}
          >
            Resend
          </Action>
        )
      }
    >
      <Show of={request}>
        {(value) => (
          <>
            <Facts
              facts={[
                ['Outcome', <Outcome key="outcome" of={value} />],
                ['State', value.state && <RequestState key="state" of={value} />],
                ['Reason', value.reason && reasonInWords(value.reason)],
                [
                  'Run',
                  value.run_id && <a key="run" href={`/console/runs/${value.run_id}`}>{`Run ${value.run_id}`}</a>,
                ],
                ['Key', value.key],
                ['Bytes', value.bytes],
                ['Received', <Time key="received" at={value.received_at} />],
              ]}
            />
            <Kept of={value} />
          </>
        )}
      </Show>
    </Page>
  );
}

function Kept({ of: { body, body_encoding: encoding, headers } }: { of: Detail }) {
  if (body === null) return <p class="empty">Headers and body are not kept.</p>;
  const lines = headers.map(({ name, value }) => `${name}: ${value}`);
  return (
    <>
      <h2>Headers</h2>
      <Code label="Request headers" text={lines.join('\n')} />
      <h2>Body</h2>
      {body === '' ? (
        <p>Empty.</p>
      ) : (
        <Content label={encoding === 'base64' ? 'Request body, base64' : 'Request body'} body={body} />
      )}
    </>
  );
}
