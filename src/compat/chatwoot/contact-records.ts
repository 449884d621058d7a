import { listOf, objectOf } from './json.ts';
import type { Json } from './operation.ts';

/** Returns a contact in Chatwoot's fields. Presence is unknown here, and a missing picture is an empty text there. */
export function theirContact(contact: Json): Json {
  const { last_activity_at: active, thumbnail, contact_inboxes: places, ...rest } = contact;
  return {
    ...rest,
    availability_status: 'offline',
    thumbnail: thumbnail ?? '',
    ...(active === null ? {} : { last_activity_at: active }),
    ...(places === undefined ? {} : { contact_inboxes: theirPlaces(places) }),
  };
}

/** Returns the inboxes of a contact. Left out: inboxes whose source id the caller may not see, since clients require one. */
export function theirPlaces(places: unknown): Json[] {
  return listOf(places)
    .filter(({ source_id: source }) => source !== null)
    .map(theirPlace);
}

/** Returns an inbox of a contact. */
export function theirPlace(place: Json): Json {
  return { ...place, inbox: slimInbox(objectOf(place['inbox'])) };
}

/** Returns an inbox in the short form: their models require each of these fields. An inbox is its own channel here. */
function slimInbox({ id, name, avatar_url: picture, channel_type: channel }: Json): Json {
  return { id, avatar_url: picture ?? '', channel_id: id, name, channel_type: channel, provider: null };
}
