/** The exit code of a child that is root and may not become another user. */
export const cannotGiveUpRoot = 77;

/**
 * Irrevocably gives up the rights that were needed only to load the sandbox: reading files, loading native code and, if
 * this process is root, being root: it switches to the user and group id `userId` and leaves all other groups. To be
 * called before the first bot is run.
 */
export function giveUpRights(userId: number): void {
  Object.defineProperty(process, 'dlopen', { value: refuseAddon, writable: false, configurable: false });
  const { drop } = process.permission as DroppablePermissions;
  if (drop) for (const scope of loadingScopes) drop(scope);
  if (process.getuid?.() === 0) becomeUser(userId);
}

// Scopes of Node's permission model that loading code needs and running bots does not.
const loadingScopes = ['addon', 'fs'];

/** The first releases of Node 24 have no `drop`, and @types/node does not declare it yet. */
interface DroppablePermissions {
  drop?: (scope: string) => void;
}

function refuseAddon(): never {
  throw new Error('The sandbox loads no further native code');
}

function becomeUser(id: number): void {
  try {
    process.setgroups?.([]);
    process.setgid?.(id);
    process.setuid?.(id);
  } catch {
    process.exit(cannotGiveUpRoot);
  }
}
