import { useState } from 'preact/hooks';
import type { Body } from '../../../shared/call.ts';
import { CheckField, Form, TextField } from '../../kit/form.tsx';

type Written = Required<Pick<Body<'POST articles'>, 'title' | 'content'>> & Body<'PATCH articles/:id'>;

/** What an article's form begins with. */
interface ArticleDraft {
  title: string;
  content: string;
  url: string | null;
  language: string;
  tags: readonly string[];
  published: boolean;
}

interface Props {
  draft: ArticleDraft;
  submit: string;
  send: (article: Written) => Promise<unknown>;
}

/** The fields of an article. */
export function ArticleForm({ draft, submit, send }: Props) {
  const [title, setTitle] = useState(draft.title);
  const [content, setContent] = useState(draft.content);
  const [url, setUrl] = useState(draft.url ?? '');
  const [language, setLanguage] = useState(draft.language);
  const [tags, setTags] = useState(draft.tags.join('\n'));
  const [published, setPublished] = useState(draft.published);
  const whole = () => ({ title, content, url: url.trim() === '' ? null : url.trim(), language, published });
  return (
    <Form submit={submit} send={() => send({ ...whole(), tags: linesOf(tags) })}>
      {(problemOf) => (
        <>
          <TextField label="Title" required value={title} onChange={setTitle} problem={problemOf('title')} />
          <TextField
            label="Content"
            hint="Markdown. A search finds parts: what stands below a heading."
            required
            rows={18}
            value={content}
            onChange={setContent}
            problem={problemOf('content')}
          />
          <TextField
            label="Address"
            hint="Where customers read it, as https://www.example.com/help/returns; bots give it as their source."
            type="url"
            value={url}
            onChange={setUrl}
            problem={problemOf('url')}
          />
          <TextField
            label="Language"
            hint="A tag such as en, de or pt-BR"
            required
            value={language}
            onChange={setLanguage}
            problem={problemOf('language')}
          />
          <TextField
            label="Tags"
            hint="One on each line; a bot can be limited to some of them."
            rows={3}
            value={tags}
            onChange={setTags}
            problem={problemIn(problemOf, linesOf(tags).length)}
          />
          <CheckField label="Published: bots and searches find it" checked={published} onChange={setPublished} />
        </>
      )}
    </Form>
  );
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

// Of the tags together, or of one of them.
function problemIn(problemOf: (field: string) => string | undefined, count: number): string | undefined {
  const fields = ['tags', ...Array.from({ length: count }, (_, index) => `tags/${index}`)];
  return fields.map(problemOf).find((problem) => problem !== undefined);
}
