import type { Section } from '../../page-row.ts';

export const bots: Section = { title: 'Bots', rows: [] };
