import type { Section } from '../../page-row.ts';
import { CataloguePage } from './catalogue.tsx';
import { ChartsPage } from './charts.tsx';
import { LivePage } from './live.tsx';

export const activity: Section = {
  title: 'Activity',
  rows: [
    { path: '/console/charts', nav: 'Charts', administrators: true, view: ChartsPage },
    { path: '/console/live', nav: 'Live', view: LivePage },
    { path: '/console/catalogue', nav: 'Event catalogue', view: CataloguePage },
  ],
};
