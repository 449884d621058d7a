import type { Section } from '../../page-row.ts';

export const conversations: Section = { title: 'Conversations', rows: [] };
