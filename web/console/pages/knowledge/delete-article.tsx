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
      question={`Bots answer no more from “${title}”. To keep it for later, take it back instead: then it is a draft.`}
      done={`“${title}” is deleted.`}
      act={async () => {
        await call('DELETE articles/:id', { id });
        await deleted();
      }}
    >
      Delete
    </Action>
  );
}
