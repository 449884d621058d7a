import { Code } from '../../kit/code.tsx';
import { Dialog } from '../../kit/dialog.tsx';

/** Shows a signing secret, which the service tells this once. */
export function SecretDialog({ secret, isNew = true, close }: { secret: string; isNew?: boolean; close: () => void }) {
  return (
    <Dialog title="New signing secret" onClose={close}>
      <p>Use it to verify webhook signatures. Shown only once: store it now. If it is lost, rotate it.</p>
      {!isNew && <p>For 24 hours, deliveries are signed with both this secret and the previous one.</p>}
      <Code label="Signing secret" text={secret} />
    </Dialog>
  );
}
