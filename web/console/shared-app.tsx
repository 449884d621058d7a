import { useEffect, useState } from 'preact/hooks';
import { useStore } from '../shared/store.ts';
import { Dialogs } from './kit/dialog.tsx';
import { Sentence } from './kit/sentence.tsx';
import { DeliveryPage } from './pages/webhooks/delivery.tsx';
import { SharedWebhookPage } from './pages/webhooks/shared-webhook.tsx';
import { followLinks, match, place } from './router.ts';
import { hasLinkEnded, linkToken, takeToken } from './shared-webhook.ts';

const own = '/console/shared/:account/:webhook';

/** The page of a link that shares a webhook: its log, and nothing else of the console. */
export function SharedApp() {
  // Before anything is drawn: the first view loads with it.
  useState(takeToken);
  useEffect(() => {
    followLinks(() => true);
    // A link that is pasted where this page is open loads no page.
    addEventListener('hashchange', takeToken);
  }, []);
  const token = useStore(linkToken);
  const hasEnded = useStore(hasLinkEnded);
  if (hasEnded)
    return (
      <Sentence title="Link ended">
        This link has expired or was revoked. Ask the person who sent it for a new one.
      </Sentence>
    );
  if (token === null)
    return (
      <Sentence title="Link incomplete">Open the complete link that you were sent, up to its last character.</Sentence>
    );
  return (
    <>
      <View key={token} />
      <Dialogs />
    </>
  );
}

function View() {
  const { path, query } = useStore(place);
  const delivery = match(`${own}/deliveries/:id`, path);
  if (delivery) return <DeliveryPage key={path} parameters={delivery} query={query} />;
  if (match(own, path)) return <SharedWebhookPage query={query} />;
  return <Sentence title="Not found">This page does not exist.</Sentence>;
}
