import type { Section } from '../../page-row.ts';
import { CataloguePage } from './catalogue.tsx';
import { LivePage } from './live.tsx';

export const activity: Section = {
  title: 'Activity',
  rows: [
    { path: '/console/live', nav: 'Live', view: LivePage },
    { path: '/console/catalogue', nav: 'Event catalogue', view: CataloguePage },
  ],
};
