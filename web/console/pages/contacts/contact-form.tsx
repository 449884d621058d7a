import type { Reply } from '../../../shared/call.ts';
import { useDraft } from '../../kit/draft.ts';
import { Form, TextField } from '../../kit/form.tsx';

/** The fields of a contact that people enter; empty ones are null. */
type EnteredContact = {
  name: string;
  email: string | null;
  phone_number: string | null;
  identifier: string | null;
};

interface Props {
  /** Unsaved changes are kept by it. */
  id: number | 'new';
  saved: Pick<Reply<'GET contacts/:id'>, keyof EnteredContact>;
  submit: string;
  send: (entered: EnteredContact) => Promise<unknown>;
  /** Leaves the form; its unsaved changes are discarded. */
  cancel: () => void;
}

/** The form of a contact. */
export function ContactForm({ id, saved, submit, send, cancel }: Props) {
  const draft = useDraft(`contact ${id}`, {
    name: saved.name,
    email: saved.email ?? '',
    phone: saved.phone_number ?? '',
    identifier: saved.identifier ?? '',
  });
  const { name, email, phone, identifier } = draft.value;
  async function sendAll(): Promise<void> {
    const sent = draft.value;
    await send({
      name: name.trim(),
      email: email.trim() || null,
      phone_number: phone.trim() || null,
      identifier: identifier.trim() || null,
    });
    draft.saved(sent);
  }
  return (
    <>
      <Form submit={submit} send={sendAll} draft={draft}>
        {(problemOf) => (
          <>
            <TextField
              label="Name"
              required
              value={name}
              onChange={(entered) => draft.set({ name: entered })}
              problem={problemOf('name')}
            />
            <TextField
              label="Email"
              type="email"
              value={email}
              onChange={(entered) => draft.set({ email: entered })}
              problem={problemOf('email')}
            />
            <TextField
              label="Phone"
              hint="With the country code: +4930901820"
              value={phone}
              onChange={(entered) => draft.set({ phone: entered })}
              problem={problemOf('phone_number')}
            />
            <TextField
              label="Identifier"
              hint="The customer's number in your own system."
              value={identifier}
              onChange={(entered) => draft.set({ identifier: entered })}
              problem={problemOf('identifier')}
            />
          </>
        )}
      </Form>
      <button
        type="button"
        onClick={() => {
          draft.discard();
          cancel();
        }}
      >
        Cancel
      </button>
    </>
  );
}
