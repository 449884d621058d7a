import { Page } from '../../kit/page.tsx';
import { go } from '../../router.ts';
import { call } from '../../session.ts';
import { ContactForm } from './contact-form.tsx';

const nobody = { name: '', email: null, phone_number: null, identifier: null };

/** Page that creates a contact. */
export function NewContactPage() {
  return (
    <Page title="New contact">
      <div class="panel">
        <ContactForm
          id="new"
          saved={nobody}
          submit="Create contact"
          send={async (body) => {
            const { id } = await call('POST contacts', { body });
            go(`/console/contacts/${id}`);
          }}
          cancel={() => go('/console/contacts')}
        />
      </div>
    </Page>
  );
}
