import { defineEntity, p } from '@mikro-orm/core';

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.bigint('number').primary(),
    name: p.text(),
    email: p.text(),
    avatarUrl: p.text().nullable(),
    confirmed: p.boolean().default(false),
    platformAdmin: p.boolean().default(false),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/**
 * A person, with access tokens and platform rights, perhaps an agent of several accounts. What an account knows of the
 * person is in its seat (see domain/people/seats.ts).
 */
export class User extends UserSchema.class {
  static readonly noun = 'User';
}
UserSchema.setClass(User);
