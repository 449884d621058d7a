import { Page } from '../../kit/page.tsx';
import { toast } from '../../kit/toast.tsx';
import { go } from '../../router.ts';
import { call } from '../../session.ts';
import { ArticleForm } from './article-form.tsx';

const empty = { title: '', content: '', url: null, language: 'en', tags: [], published: true };

/** A new article. */
export function NewArticlePage() {
  return (
    <Page title="New article">
      <div class="panel">
        <ArticleForm
          id="new"
          saved={empty}
          submit="Create"
          send={async (body) => {
            const { id, title } = await call('POST articles', { body });
            toast(`Article “${title}” created.`);
            go(`/console/knowledge/articles/${id}`);
          }}
        />
      </div>
    </Page>
  );
}
