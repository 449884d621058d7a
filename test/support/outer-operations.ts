import type { Prepare } from './operations.ts';

const nothing: Prepare = () => ({});

/** Requests to what stands outside of accounts. */
export const outerOperations: Record<string, Prepare> = {
  'GET /api/v1/profile': nothing,
  'POST /api/v1/profile/reset_access_token': nothing,
  'GET /invitations/:token': async ({ maker }) => ({ at: { token: (await maker.invitee()).token } }),
  'POST /invitations/:token': async ({ maker }) => ({ at: { token: (await maker.invitee()).token } }),
  'GET /healthz': nothing,
  'GET /readyz': nothing,
  'GET /openapi.json': nothing,
};
