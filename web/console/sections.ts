import type { Section } from './page-row.ts';
import { activity } from './pages/activity/index.ts';
import { bots } from './pages/bots/index.ts';
import { contacts } from './pages/contacts/index.ts';
import { conversations } from './pages/conversations/index.ts';
import { knowledge } from './pages/knowledge/index.ts';
import { settings } from './pages/settings/index.ts';
import { webhooks } from './pages/webhooks/index.ts';

/** All views, in the order of the navigation. */
export const sections: readonly Section[] = [conversations, contacts, bots, knowledge, webhooks, activity, settings];
