import type { ReplyFiles } from '../../runs/reply-files.ts';
import { nameIn } from '../../runs/fetched-file.ts';
import type { Action } from '../../sandbox/run.ts';

/** Stand-ins for the files of replies: a simulation gets none, and shows their names. */
export function filesOf(actions: readonly Action[]): ReplyFiles {
  const files = actions.map((action) => {
    const sent = action.type === 'reply' ? (action.attachments ?? []) : [];
    return [action, sent.map(standIn)] as const;
  });
  return new Map(files);
}

type ReplyFile = NonNullable<Extract<Action, { type: 'reply' }>['attachments']>[number];

function standIn({ url, name, file = 0 }: ReplyFile, index: number) {
  const own = url === undefined ? `file ${file}` : nameIn(url);
  return { id: index + 1, name: name ?? own, type: 'application/octet-stream', size: 1, width: null, height: null };
}
