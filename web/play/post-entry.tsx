import type { KeptPost } from '../shared/play.ts';

/** A received request: verification and response, and when opened, sender and body as text. */
export function PostEntry({ post }: { post: KeptPost }) {
  const { event, verified, status, attempt, received_at: at, path, webhook_id: webhookId, body, bytes } = post;
  return (
    <li>
      <details>
        <summary>
          <time dateTime={at}>{new Date(at).toLocaleTimeString()}</time>
          <strong>{event ?? 'no event'}</strong>
          <span class={verified ? 'good' : 'bad'}>{verified ? 'verified' : 'not verified'}</span>
          <span>{status === null ? 'no response yet' : `responded ${status}`}</span>
          {attempt !== null && <span>attempt {attempt}</span>}
        </summary>
        <p>{senderOf(post)}</p>
        <p>
          {path}
          {webhookId !== null && ` · ${webhookId}`}
        </p>
        <pre tabIndex={0} aria-label="Body">
          {readable(body)}
        </pre>
        {bytes > body.length && <p class="hint">{bytes} bytes total</p>}
      </details>
    </li>
  );
}

function senderOf({ webhook, problem }: KeptPost): string | null {
  return webhook ? (webhook.name ?? `Webhook ${webhook.id}`) : problem;
}

function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
