import { Store } from '../shared/store.ts';
import { call, currentAccount, currentPerson } from './session.ts';

/** How many notifications of the person in the account are unread. */
export const unread = new Store(0);

/** Loads the number of unread notifications. A failure leaves the one that is shown. */
export async function loadUnread(): Promise<void> {
  const whose = `${currentPerson()} ${currentAccount()?.id}`;
  const { unread_count: count } = await call('GET notifications/unread_count');
  if (whose === `${currentPerson()} ${currentAccount()?.id}`) unread.set(count);
}
