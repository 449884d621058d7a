import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

// The guardian reads its pipe: a line dismisses it; the end of the pipe without a line means that this process has
// died. A server may remain as a zombie after the death of its parent; it counts as ended.
const guardianScript = `
read -r farewell && exit 0
is_running() {
  case "$(cat "/proc/$1/stat" 2>/dev/null)" in *') Z '*) return 1 ;; esac
  kill -0 "$1" 2>/dev/null
}
kill -INT "$1" 2>/dev/null
waited=0
while is_running "$1" && [ "$waited" -lt 100 ]; do sleep 0.1; waited=$((waited + 1)); done
[ -z "$2" ] || rm -rf -- "$2"
`;

/**
 * Starts a process that ends the server, and deletes the `removable` folder, when this process dies, even by SIGKILL.
 * Returns the function that dismisses the guardian, to be called when the server has ended.
 */
export function startGuardian(pid: number, removable: string | null): () => void {
  const args = ['-c', guardianScript, 'switchboard-guardian', String(pid), removable ?? ''];
  const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' }, detached: true } as const;
  const guardian = spawn('/bin/sh', args, { ...options, stdio: ['pipe', 'ignore', 'ignore'] });
  guardian.on('error', () => undefined);
  guardian.stdin.on('error', () => undefined);
  // Without unref, the guardian would keep this process alive.
  guardian.unref();
  if (guardian.stdin instanceof Socket) guardian.stdin.unref();
  return () => guardian.stdin.end('farewell\n');
}
