import type { Section } from '../../page-row.ts';

export const knowledge: Section = { title: 'Knowledge', rows: [] };
