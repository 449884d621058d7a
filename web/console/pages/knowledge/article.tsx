import './knowledge.css';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import { toast } from '../../kit/toast.tsx';
import type { ViewProps } from '../../page-row.ts';
import { go } from '../../router.ts';
import { call, isAdministrator } from '../../session.ts';
import { ArticleForm } from './article-form.tsx';
import { PublishedMark } from './articles.tsx';
import { DeleteArticle } from './delete-article.tsx';

type Article = Reply<'GET articles/:id'>;

/** Page of an article, with its form for administrators. */
export function ArticlePage({ parameters }: ViewProps) {
  const id = Number(parameters['id']);
  const article = useLoad((signal) => call('GET articles/:id', { id, signal }), [id]);
  const [isEdited, setEdited] = useState(false);
  const { value, set } = article;
  return (
    <Page
      title={value?.title ?? 'Article'}
      actions={
        value && isAdministrator() && !isEdited && <Ways article={value} edit={() => setEdited(true)} set={set} />
      }
    >
      <Show of={article}>
        {(present) =>
          isEdited ? (
            <EditedArticle article={present} set={set} close={() => setEdited(false)} />
          ) : (
            <>
              <Facts facts={factsOf(present)} />
              <pre class="article" tabIndex={0} aria-label="Content">
                {present.content}
              </pre>
            </>
          )
        }
      </Show>
    </Page>
  );
}

function factsOf(article: Article): (readonly [string, ComponentChildren])[] {
  const { url, path, language, tags, published, used_in_answers: answers, updated_at: changedAt } = article;
  return [
    ['State', <PublishedMark key="state" isPublished={published} />],
    ['Language', language],
    ['Tags', tags.length === 0 ? null : tags.join(', ')],
    ['Public URL', url === null ? null : <Address url={url} />],
    ['Imported from', path],
    ['Answers, last 7 days', answers.toLocaleString()],
    ['Updated', <Time key="changed" at={changedAt} />],
  ];
}

// The service takes web addresses alone; anything else would be shown as text.
function Address({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return <>{url}</>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {url}
    </a>
  );
}

interface WaysProps {
  article: Article;
  edit: () => void;
  set: (article: Article) => void;
}

function Ways({ article, edit, set }: WaysProps) {
  const { id, published } = article;
  return (
    <>
      <button type="button" onClick={edit}>
        Edit
      </button>
      <Action
        done={published ? 'Unpublished. Bots no longer use it.' : 'Published. Bots can use it.'}
        act={async () => set(await call('PATCH articles/:id', { id, body: { published: !published } }))}
      >
        {published ? 'Unpublish' : 'Publish'}
      </Action>
      <DeleteArticle article={article} deleted={() => go('/console/knowledge/articles')} />
    </>
  );
}

function EditedArticle({
  article,
  set,
  close,
}: {
  article: Article;
  set: (article: Article) => void;
  close: () => void;
}) {
  return (
    <div class="panel">
      <ArticleForm
        id={article.id}
        saved={article}
        submit="Save"
        send={async (body) => {
          set(await call('PATCH articles/:id', { id: article.id, body }));
          toast('Saved.');
          close();
        }}
        cancel={close}
      />
    </div>
  );
}
