import type { Reply } from '../shared/call.ts';
import { Store } from '../shared/store.ts';
import { call, currentAccount, currentPerson } from './session.ts';

type CustomFilter = Reply<'GET custom_filters'>['payload'][number];

/** Filters of the list of conversations, as its address has them. */
export const conversationFilters = ['q', 'status', 'inbox_id', 'team_id', 'labels', 'assignee_type'] as const;

/** A set of filters that the person keeps by a name. */
export interface SavedView {
  id: number;
  name: string;
  /** Parameters of the address, in the order of `conversationFilters`. */
  filters: URLSearchParams;
}

/** The saved views of the person in the account, by name. */
export const savedViews = new Store<readonly SavedView[]>([]);

/** Loads the saved views. A failure leaves those that are shown. */
export async function loadSavedViews(): Promise<void> {
  const whose = `${currentPerson()} ${currentAccount()?.id}`;
  const { payload } = await call('GET custom_filters', { query: { filter_type: 'conversation' } });
  if (whose === `${currentPerson()} ${currentAccount()?.id}`) savedViews.set(payload.flatMap(viewOf));
}

/** Returns the filters in an address, without its page; everybody as assignee is no filter. */
export function filtersIn(query: URLSearchParams): URLSearchParams {
  const given = conversationFilters.flatMap((name) => {
    const value = query.get(name) ?? '';
    return value === '' || (name === 'assignee_type' && value === 'all') ? [] : [[name, value]];
  });
  return new URLSearchParams(given);
}

/** Returns the saved view that has the filters of an address. */
export function viewAt(query: URLSearchParams, views: readonly SavedView[]): SavedView | undefined {
  const wanted = filtersIn(query).toString();
  return views.find(({ filters }) => filters.toString() === wanted);
}

/** Returns the address of a saved view. */
export function addressOf({ filters }: SavedView): string {
  return `/console/conversations?${filters.toString()}`;
}

// Other clients keep queries in words of their own, which the list has no filters for.
function viewOf({ id, name, query }: CustomFilter): SavedView[] {
  const entries = Object.entries(query).map(([key, value]) => [key, String(value)]);
  const filters = filtersIn(new URLSearchParams(entries));
  return filters.size > 0 && filters.size === entries.length ? [{ id, name, filters }] : [];
}
