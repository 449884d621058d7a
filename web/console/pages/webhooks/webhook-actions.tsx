import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
import { toast } from '../../kit/toast.tsx';
import { go } from '../../router.ts';
import { call } from '../../session.ts';
import { RecoverDialog } from './recovery.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { nameOf, type Webhook } from './states.tsx';

interface Props {
  webhook: Webhook;
  changed: () => Promise<void>;
}

/** What can be done about a webhook. */
export function WebhookActions({ webhook, changed }: Props) {
  const [secret, setSecret] = useState<string | null>(null);
  const [isRecovering, setRecovering] = useState(false);
  return (
    <div class="actions">
      <Flow webhook={webhook} changed={changed} />
      <button type="button" onClick={() => setRecovering(true)}>
        Recover
      </button>
      <Action
        question="What waits for this webhook is cancelled; later events are sent as before. It can be recovered."
        act={async () => {
          const { count } = await call('POST webhooks/:id/cancel_pending', { id: webhook.id });
          toast(count === 0 ? 'Nothing waited.' : `${count} deliveries are cancelled.`);
          await changed();
        }}
      >
        Cancel what waits
      </Action>
      <Action
        question="A new secret is made and shown once. For 24 hours posts are signed with both."
        act={async () => {
          const answer = await call('POST webhooks/:id/rotate_secret', { id: webhook.id });
          setSecret(answer.secret);
          await changed();
        }}
      >
        Rotate the secret
      </Action>
      <Deletion webhook={webhook} />
      {isRecovering && <RecoverDialog webhookId={webhook.id} close={() => setRecovering(false)} />}
      {secret !== null && <SecretDialog secret={secret} isNew={false} close={() => setSecret(null)} />}
    </div>
  );
}

function Flow({ webhook: { id, active, paused }, changed }: Props) {
  if (!active)
    return (
      <Action
        kind="primary"
        done="It is switched on: events are sent from now on. What was missed, “Recover” sends."
        act={async () => {
          await call('PATCH webhooks/:id', { id, body: { active: true } });
          await changed();
        }}
      >
        Switch on
      </Action>
    );
  return paused ? (
    <Action
      kind="primary"
      done="It goes on: what waited is sent, in order."
      act={async () => {
        await call('POST webhooks/:id/resume', { id });
        await changed();
      }}
    >
      Resume
    </Action>
  ) : (
    <Action
      done="Nothing is sent until you resume it; everything waits, and nothing is lost."
      act={async () => {
        await call('POST webhooks/:id/pause', { id });
        await changed();
      }}
    >
      Pause
    </Action>
  );
}

function Deletion({ webhook }: { webhook: Webhook }) {
  const name = nameOf(webhook);
  return (
    <Action
      kind="danger"
      question={`Deleting “${name}” cancels what waits for it. What was delivered stays in the log.`}
      done={`“${name}” is deleted.`}
      act={async () => {
        await call('DELETE webhooks/:id', { id: webhook.id });
        go('/console/webhooks');
      }}
    >
      Delete
    </Action>
  );
}
