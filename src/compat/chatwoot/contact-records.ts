import type { Json } from './operation.ts';

/** A contact as they tell it: nobody's presence is known, and who has no picture has an empty one. */
export function theirContact(contact: Json): Json {
  const { last_activity_at: active, thumbnail, ...rest } = contact;
  return {
    ...rest,
    availability_status: 'offline',
    thumbnail: thumbnail ?? '',
    ...(active === null ? {} : { last_activity_at: active }),
  };
}
