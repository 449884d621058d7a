import type { Section } from '../../page-row.ts';
import { ArticlePage } from './article.tsx';
import { ArticlesPage } from './articles.tsx';
import { ImportPage } from './import.tsx';
import { NewArticlePage } from './new-article.tsx';
import { TrySearchPage } from './try-search.tsx';

export const knowledge: Section = {
  title: 'Knowledge',
  rows: [
    { path: '/console/knowledge/articles', nav: 'Articles', view: ArticlesPage },
    { path: '/console/knowledge/articles/new', administrators: true, view: NewArticlePage },
    { path: '/console/knowledge/articles/:id', view: ArticlePage },
    { path: '/console/knowledge/import', nav: 'Import articles', administrators: true, view: ImportPage },
    { path: '/console/knowledge/search', nav: 'Test search', view: TrySearchPage },
  ],
};
