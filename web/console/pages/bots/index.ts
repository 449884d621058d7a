import type { Section } from '../../page-row.ts';
import { AutomationPage } from '../automations/automation.tsx';
import { AutomationsPage } from '../automations/automations.tsx';
import { BotPage } from './bot.tsx';
import { BotsPage } from './bots.tsx';
import { EvalsPage } from './evals.tsx';
import { PluginPage } from './plugin.tsx';
import { PluginsPage } from './plugins.tsx';
import { RunPage } from './run.tsx';
import { RunsPage } from './runs.tsx';
import { UnansweredPage } from './unanswered.tsx';

export const bots: Section = {
  title: 'Bots',
  rows: [
    { path: '/console/bots', nav: 'Bots', view: BotsPage },
    { path: '/console/bots/:id', view: BotPage },
    { path: '/console/bots/:id/unanswered', administrators: true, view: UnansweredPage },
    { path: '/console/bots/:id/evals', administrators: true, view: EvalsPage },
    { path: '/console/automations', nav: 'Automations', view: AutomationsPage },
    { path: '/console/automations/:id', view: AutomationPage },
    { path: '/console/runs', nav: 'Runs', view: RunsPage },
    { path: '/console/runs/:id', view: RunPage },
    { path: '/console/plugins', nav: 'Plugins', administrators: true, platform: true, view: PluginsPage },
    { path: '/console/plugins/:plugin', platform: true, view: PluginPage },
  ],
};
