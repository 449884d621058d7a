import { Code } from '../../kit/code.tsx';
import { Dialog } from '../../kit/dialog.tsx';

/** Shows a signing secret, which the service tells this once. */
export function SecretDialog({ secret, isNew = true, close }: { secret: string; isNew?: boolean; close: () => void }) {
  return (
    <Dialog title="The signing secret" onClose={close}>
      <p>
        With it your server verifies that posts come from here. It is shown this once: keep it now, or rotate it when it
        is lost.
      </p>
      {!isNew && (
        <p>
          For 24 hours each post carries two signatures, with this secret and with the one before, so that no post is
          missed while you change it.
        </p>
      )}
      <Code label="Signing secret" text={secret} />
    </Dialog>
  );
}
