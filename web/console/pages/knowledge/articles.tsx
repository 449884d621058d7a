import './knowledge.css';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { ChoiceField, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { pageOf, Pages } from '../../kit/pages.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { setQuery } from '../../router.ts';
import { call, isAdministrator } from '../../session.ts';
import { DeleteArticle } from './delete-article.tsx';

type Article = Reply<'GET articles'>['payload'][number];

const states = [
  ['', 'All articles'],
  ['true', 'Published'],
  ['false', 'Drafts'],
] as const;

/** The articles of the account, from which bots answer; the filters are kept in the address. */
export function ArticlesPage({ query }: ViewProps) {
  const mayChange = isAdministrator();
  const [page, published, tag, language] = [
    pageOf(query),
    query.get('published') ?? '',
    query.get('tag') ?? '',
    query.get('language') ?? '',
  ];
  const articles = useLoad(
    (signal) => call('GET articles', { query: asked({ page, published, tag, language }), signal }),
    [page, published, tag, language],
  );
  const isFiltered = published !== '' || tag !== '' || language !== '';
  return (
    <Page title="Articles" actions={mayChange && <Ways />}>
      <Filters published={published} tag={tag} language={language} />
      <Show of={articles}>
        {({ payload, meta }) => (
          <>
            <Table
              caption="Articles by title"
              rows={payload}
              keyOf={({ id }) => id}
              empty={<EmptyState isFiltered={isFiltered} mayChange={mayChange} />}
              columns={columnsFor(mayChange, articles.reload)}
            />
            <Pages meta={meta} />
          </>
        )}
      </Show>
    </Page>
  );
}

interface Filter {
  published: string;
  tag: string;
  language: string;
}

function asked({ page, published, tag, language }: Filter & { page: number }) {
  return {
    page,
    ...(published === '' ? {} : { published: published === 'true' }),
    ...(tag === '' ? {} : { tag }),
    ...(language === '' ? {} : { language }),
  };
}

function Ways() {
  return (
    <>
      <a class="button" href="/console/knowledge/import">
        Import articles
      </a>
      <a class="button primary" href="/console/knowledge/articles/new">
        New article
      </a>
    </>
  );
}

// Applies at submit: half of a language tag matches nothing.
function Filters({ published, tag, language }: Filter) {
  const [typedTag, setTag] = useState(tag);
  const [typedLanguage, setLanguage] = useState(language);
  // A tag in the list leads to its articles.
  useLayoutEffect(() => setTag(tag), [tag]);
  useLayoutEffect(() => setLanguage(language), [language]);
  return (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ tag: typedTag.trim(), language: typedLanguage.trim(), page: null });
        }}
      >
        <ChoiceField
          label="State"
          value={published}
          onChange={(value) => setQuery({ published: value, page: null })}
          options={states}
        />
        <TextField label="Tag" type="search" value={typedTag} onChange={setTag} />
        <TextField label="Language" type="search" value={typedLanguage} onChange={setLanguage} />
        <button type="submit">Filter</button>
      </form>
    </search>
  );
}

function EmptyState({ isFiltered, mayChange }: { isFiltered: boolean; mayChange: boolean }) {
  if (isFiltered)
    return (
      <p>
        No articles match these filters. <a href="/console/knowledge/articles">Clear filters</a>
      </p>
    );
  return mayChange ? (
    <p>
      No articles yet. Write one or <a href="/console/knowledge/import">import</a> existing ones. Bots answer from
      published articles.
    </p>
  ) : (
    <p>No articles yet. Administrators write and import them.</p>
  );
}

function columnsFor(mayChange: boolean, changed: () => Promise<void>) {
  const columns = [
    {
      title: 'Title',
      kind: 'text' as const,
      cell: ({ id, title }: Article) => <a href={`/console/knowledge/articles/${id}`}>{title}</a>,
    },
    {
      title: 'State',
      kind: 'fit' as const,
      cell: ({ published }: Article) => <PublishedMark isPublished={published} />,
    },
    { title: 'Language', kind: 'fit' as const, cell: ({ language }: Article) => language },
    { title: 'Tags', kind: 'text' as const, cell: ({ tags }: Article) => <Tags tags={tags} /> },
    {
      title: 'Answers (7 days)',
      kind: 'fit' as const,
      cell: ({ used_in_answers: count }: Article) => count.toLocaleString(),
    },
    { title: 'Updated', kind: 'fit' as const, cell: ({ updated_at: at }: Article) => <Time at={at} /> },
  ];
  if (!mayChange) return columns;
  const cell = (article: Article) => <DeleteArticle article={article} deleted={changed} />;
  return [...columns, { title: 'Actions', kind: 'fit' as const, cell }];
}

/** Whether bots and searches find an article. */
export function PublishedMark({ isPublished }: { isPublished: boolean }) {
  return isPublished ? <span class="badge good">Published</span> : <span class="badge wait">Draft</span>;
}

function Tags({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return <>–</>;
  return (
    <span class="tags">
      {tags.map((tag) => (
        <a key={tag} class="badge" href={`/console/knowledge/articles?tag=${encodeURIComponent(tag)}`}>
          {tag}
        </a>
      ))}
    </span>
  );
}
