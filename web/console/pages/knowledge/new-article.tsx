import { Page } from '../../kit/page.tsx';
import { toast } from '../../kit/toast.tsx';
import type { ViewProps } from '../../page-row.ts';
import { go } from '../../router.ts';
import { call } from '../../session.ts';
import { ArticleForm } from './article-form.tsx';

const empty = { title: '', content: '', url: null, language: 'en', tags: [], published: true };

/** A new article; with `title` in the address a draft with this title, which each have unsaved text of their own. */
export function NewArticlePage({ query }: ViewProps) {
  const title = titleIn(query);
  return (
    <Page title="New article">
      <div class="panel">
        <ArticleForm
          key={title}
          id={title === '' ? 'new' : `new ${title}`}
          saved={title === '' ? empty : { ...empty, title, published: false }}
          submit="Create"
          send={async (body) => {
            const article = await call('POST articles', { body });
            toast(`Article “${article.title}” created.`);
            go(`/console/knowledge/articles/${article.id}`);
          }}
        />
      </div>
    </Page>
  );
}

/** Title in the address, as long as a title may be. */
function titleIn(query: URLSearchParams): string {
  const text = (query.get('title') ?? '').replace(/\s+/g, ' ').trim();
  // Counts characters, not UTF-16 units: half an emoji cannot be stored.
  return /^.{0,255}/su.exec(text)?.[0] ?? '';
}
