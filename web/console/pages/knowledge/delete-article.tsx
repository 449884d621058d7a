import { Action } from '../../kit/action.tsx';
import { call } from '../../session.ts';

interface Props {
  article: { id: number; title: string };
  deleted: () => Promise<void> | void;
}

/** The button that deletes an article. */
export function DeleteArticle({ article: { id, title }, deleted }: Props) {
  return (
    <Action
      kind="danger"
      label={`Delete ${title}`}
      question={`Bots stop using “${title}”. To keep it as a draft, unpublish it instead.`}
      done={`Article “${title}” deleted.`}
      act={async () => {
        await call('DELETE articles/:id', { id });
        await deleted();
      }}
    >
      Delete
    </Action>
  );
}
