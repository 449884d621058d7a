import type { Body } from '../../../shared/call.ts';
import { useDraft } from '../../kit/draft.ts';
import { CheckField, Form, linesOf, TextField } from '../../kit/form.tsx';

type Written = Required<Pick<Body<'POST articles'>, 'title' | 'content'>> & Body<'PATCH articles/:id'>;

/** The content of the form; tags are one text, one on each line. */
interface ArticleDraft {
  title: string;
  content: string;
  url: string;
  language: string;
  tags: string;
  published: boolean;
}

interface Saved {
  title: string;
  content: string;
  url: string | null;
  language: string;
  tags: readonly string[];
  published: boolean;
}

interface Props {
  /** The id of the article, or a name that begins with `new`: unsaved changes are kept by it. */
  id: number | `new${string}`;
  saved: Saved;
  submit: string;
  send: (article: Written) => Promise<unknown>;
  /** Leaves the form; its unsaved changes are discarded. */
  cancel?: () => void;
}

/** The form of an article. */
export function ArticleForm({ id, saved, submit, send, cancel }: Props) {
  const draft = useDraft<ArticleDraft>(`article ${id}`, {
    title: saved.title,
    content: saved.content,
    url: saved.url ?? '',
    language: saved.language,
    tags: saved.tags.join('\n'),
    published: saved.published,
  });
  const { title, content, url, language, tags, published } = draft.value;
  async function sendAll(): Promise<void> {
    const body = { title, content, url: url.trim() || null, language, tags: linesOf(tags), published };
    await send(body);
    draft.discard();
  }
  return (
    <>
      <Form submit={submit} send={sendAll} draft={draft}>
        {(problemOf) => (
          <>
            <TextField
              label="Title"
              required
              value={title}
              onChange={(entered) => draft.set({ title: entered })}
              problem={problemOf('title')}
            />
            <TextField
              label="Content"
              hint="Markdown. Bots find the part below a heading."
              required
              rows={18}
              value={content}
              onChange={(entered) => draft.set({ content: entered })}
              problem={problemOf('content')}
            />
            <TextField
              label="Public URL"
              hint="Where customers read the article. Bots cite it as their source."
              type="url"
              value={url}
              onChange={(entered) => draft.set({ url: entered })}
              problem={problemOf('url')}
            />
            <TextField
              label="Language"
              hint="A language tag, such as en, de or pt-BR."
              required
              value={language}
              onChange={(entered) => draft.set({ language: entered })}
              problem={problemOf('language')}
            />
            <TextField
              label="Tags"
              hint="One per line. Bots can be limited to articles with certain tags."
              rows={3}
              value={tags}
              onChange={(entered) => draft.set({ tags: entered })}
              problem={problemIn(problemOf, linesOf(tags).length)}
            />
            <CheckField
              label="Published"
              checked={published}
              onChange={(checked) => draft.set({ published: checked })}
            />
          </>
        )}
      </Form>
      {cancel && (
        <button
          type="button"
          onClick={() => {
            draft.discard();
            cancel();
          }}
        >
          Cancel
        </button>
      )}
    </>
  );
}

// The problem of the tags together, or of one of them.
function problemIn(problemOf: (field: string) => string | undefined, count: number): string | undefined {
  const fields = ['tags', ...Array.from({ length: count }, (_, index) => `tags/${index}`)];
  return fields.map(problemOf).find((problem) => problem !== undefined);
}
