import type { Section } from '../../page-row.ts';

export const webhooks: Section = { title: 'Webhooks', rows: [] };
