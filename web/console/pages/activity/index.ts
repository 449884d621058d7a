import type { Section } from '../../page-row.ts';
import { CataloguePage } from './catalogue.tsx';

export const activity: Section = {
  title: 'Activity',
  rows: [{ path: '/console/catalogue', nav: 'Event catalogue', view: CataloguePage }],
};
