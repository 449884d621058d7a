import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
import { toast } from '../../kit/toast.tsx';
import { go } from '../../router.ts';
import { call } from '../../session.ts';
import { RecoverDialog } from './recovery.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { ShareDialog } from './share.tsx';
import { nameOf, type Webhook } from './states.tsx';
import { deletionQuestion } from './webhook-form.tsx';

interface Props {
  webhook: Webhook;
  changed: () => Promise<void>;
}

/** Actions on a webhook. */
export function WebhookActions({ webhook, changed }: Props) {
  const [secret, setSecret] = useState<string | null>(null);
  const [isRecovering, setRecovering] = useState(false);
  const [isSharing, setSharing] = useState(false);
  return (
    <div class="actions">
      <Flow webhook={webhook} changed={changed} />
      <button type="button" onClick={() => setRecovering(true)}>
        Recover
      </button>
      {webhook.active && (
        <Action
          act={async () => {
            const { count } = await call('POST webhooks/:id/retry', { id: webhook.id });
            toast(
              count === 0 ? 'No failing deliveries.' : `Retrying ${count} ${count === 1 ? 'delivery' : 'deliveries'}.`,
            );
            await changed();
          }}
        >
          Retry now
        </Action>
      )}
      <Action
        question="Pending deliveries are cancelled. You can recover them later. New events are sent as usual."
        act={async () => {
          const { count } = await call('POST webhooks/:id/cancel_pending', { id: webhook.id });
          toast(
            count === 0 ? 'No pending deliveries.' : `${count} ${count === 1 ? 'delivery' : 'deliveries'} cancelled.`,
          );
          await changed();
        }}
      >
        {' '}
        Cancel pending{' '}
      </Action>
      <Action
        question="The new secret is shown once. For 24 hours, deliveries are signed with both secrets."
        act={async () => {
          const answer = await call('POST webhooks/:id/rotate_secret', { id: webhook.id });
          setSecret(answer.secret);
          await changed();
        }}
      >
        {' '}
        Rotate secret{' '}
      </Action>
      <button type="button" onClick={() => setSharing(true)}>
        Share with a developer
      </button>
      <Deletion webhook={webhook} />
      {isRecovering && <RecoverDialog webhookId={webhook.id} close={() => setRecovering(false)} />}
      {isSharing && <ShareDialog webhookId={webhook.id} close={() => setSharing(false)} made={() => void changed()} />}
      {secret !== null && <SecretDialog secret={secret} isNew={false} close={() => setSecret(null)} />}
    </div>
  );
}

function Flow({ webhook: { id, active, paused }, changed }: Props) {
  if (!active)
    return (
      <Action
        kind="primary"
        done="Webhook enabled. To send missed events, use Recover."
        act={async () => {
          await call('PATCH webhooks/:id', { id, body: { active: true } });
          await changed();
        }}
      >
        {' '}
        Enable{' '}
      </Action>
    );
  return paused ? (
    <Action
      kind="primary"
      done="Webhook resumed."
      act={async () => {
        await call('POST webhooks/:id/resume', { id });
        await changed();
      }}
    >
      Resume
    </Action>
  ) : (
    <Action
      done="Webhook paused. Deliveries wait until you resume."
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
      question={deletionQuestion(name)}
      done={`Webhook “${name}” deleted.`}
      act={async () => {
        await call('DELETE webhooks/:id', { id: webhook.id });
        go('/console/webhooks');
      }}
    >
      Delete
    </Action>
  );
}
