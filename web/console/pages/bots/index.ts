import type { Section } from '../../page-row.ts';
import { RunPage } from './run.tsx';
import { RunsPage } from './runs.tsx';

export const bots: Section = {
  title: 'Bots',
  rows: [
    { path: '/console/runs', nav: 'Runs', view: RunsPage },
    { path: '/console/runs/:id', view: RunPage },
  ],
};
