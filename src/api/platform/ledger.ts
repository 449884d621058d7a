import { doors } from '../../http/route/admission/doors.ts';

export const platformLedgerRoutes = [
  doors.platform(
    ['GET', '/platform/api/v1/ledger', 'Get the ledger'],
    {
      query: 'requests/ledger.query',
      reply: 'resources/ledger',
      errors: [422],
      record: true,
      role: 'platform',
      description:
        'Holds the whole database against what always must be so: every event has its deliveries, each of them has ended or is scheduled, nothing was sent twice or out of order. Violations are no error: the answer tells them.',
    },
    { prepare: ({ services, query }) => services.ledger(query.step), handle: async (_, ledger) => ledger },
  ),
];
