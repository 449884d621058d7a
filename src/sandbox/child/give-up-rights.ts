/** The exit code of a child that is root and may not become another account. */
export const cannotGiveUpRoot = 77;

/**
 * Gives up for good what only loading the sandbox took: reading files, loading native code and, where this process is
 * root, being root: it becomes user and group `account`, in no other group. To be called before the first bot is run.
 */
export function giveUpRights(account: number): void {
  Object.defineProperty(process, 'dlopen', { value: refuseAddon, writable: false, configurable: false });
  const { drop } = process.permission as DroppablePermissions;
  if (drop) for (const scope of loadingScopes) drop(scope);
  if (process.getuid?.() === 0) becomeAccount(account);
}

// Of Node's permission model: what loading code takes, and running bots does not.
const loadingScopes = ['addon', 'fs'];

/** The first releases of Node 24 have no `drop`, and no type tells of it yet. */
interface DroppablePermissions {
  drop?: (scope: string) => void;
}

function refuseAddon(): never {
  throw new Error('The sandbox loads no further native code');
}

function becomeAccount(id: number): void {
  try {
    process.setgroups?.([]);
    process.setgid?.(id);
    process.setuid?.(id);
  } catch {
    process.exit(cannotGiveUpRoot);
  }
}
