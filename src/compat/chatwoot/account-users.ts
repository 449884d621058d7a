import { restOf } from './asking.ts';
import type { Operation } from './operation.ts';

/** Members of an account, as the platform sees them. */
export const accountUserOperations: readonly Operation[] = [
  { method: 'GET', path: '/platform/api/v1/accounts/:id/account_users', answer: restOf },
];
