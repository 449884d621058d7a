import './knowledge.css';
import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import type { ViewProps } from '../../page-row.ts';
import { setQuery } from '../../router.ts';
import { call } from '../../session.ts';
import { Highlight } from './highlight.tsx';

type Found = Reply<'GET articles/search'>['payload'][number];

/** Passages that bots find for a question, with scores. The question is kept in the address. */
export function TrySearchPage({ query }: ViewProps) {
  const [question, tag, language] = [query.get('q') ?? '', query.get('tag') ?? '', query.get('language') ?? ''];
  return (
    <Page title="Test search">
      <p>Enter a question to see which passages bots find. Without a good match, bots hand off to an agent.</p>
      <Question question={question} tag={tag} language={language} />
      {/* Anew for each: what was found for another question says nothing of this one. */}
      {question !== '' && (
        <Answer key={JSON.stringify([question, tag, language])} question={question} tag={tag} language={language} />
      )}
    </Page>
  );
}

interface Asked {
  question: string;
  tag: string;
  language: string;
}

function Answer({ question, tag, language }: Asked) {
  const asked = {
    q: question,
    ...(tag === '' ? {} : { tags: [tag] }),
    ...(language === '' ? {} : { languages: [language] }),
  };
  const found = useLoad((signal) => call('GET articles/search', { query: asked, signal }));
  return <Show of={found}>{({ payload }) => <Results question={question} found={payload} />}</Show>;
}

function Question(asked: Asked) {
  const [question, setQuestion] = useState(asked.question);
  const [tag, setTag] = useState(asked.tag);
  const [language, setLanguage] = useState(asked.language);
  return (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ q: question.trim(), tag: tag.trim(), language: language.trim() });
        }}
      >
        <TextField label="Question" type="search" value={question} onChange={setQuestion} />
        <TextField label="Tag" type="search" value={tag} onChange={setTag} />
        <TextField label="Language" type="search" value={language} onChange={setLanguage} />
        <button type="submit" class="primary">
          Search
        </button>
      </form>
    </search>
  );
}

function Results({ question, found }: { question: string; found: readonly Found[] }) {
  if (found.length === 0)
    return (
      <div class="empty">
        <p>
          No results for “{question}”. Bots would hand off to an agent. Try other words, or{' '}
          <a href="/console/knowledge/articles">view articles</a>.
        </p>
      </div>
    );
  return (
    <ol class="found" aria-label="Results">
      {found.map((one) => (
        <Result key={one.id} found={one} />
      ))}
    </ol>
  );
}

function Result({ found: { id, title, heading, language, score, answers, highlight } }: { found: Found }) {
  const percent = Math.round(score * 100);
  return (
    <li class="panel">
      <h2>
        <a href={`/console/knowledge/articles/${id}`}>{title}</a>
        {heading !== null && <small> {heading}</small>}
      </h2>
      <p class="score">
        <meter min={0} max={1} value={score} aria-label={`Score of ${title}`} />
        <span>Score {percent} %</span>
        {answers ? <span class="badge good">Good match</span> : <span class="badge wait">Weak match</span>}
        <span>{language}</span>
      </p>
      <p>
        <Highlight html={highlight} />
      </p>
    </li>
  );
}
