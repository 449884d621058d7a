import { spawn } from 'node:child_process';

// It hears from its pipe: a line when all is well, the end of the pipe when this process died, however it died. A server
// whose parent is gone may stay as a zombie, which counts as ended.
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
 * Watches over a server from a process of its own, so that the server ends with this process even when that is killed;
 * a `removable` folder then goes too. Returns what dismisses the guardian, to be called when the server has ended.
 */
export function postGuardian(pid: number, removable: string | null): () => void {
  const args = ['-c', guardianScript, 'switchboard-guardian', String(pid), removable ?? ''];
  const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' }, detached: true } as const;
  const guardian = spawn('/bin/sh', args, { ...options, stdio: ['pipe', 'ignore', 'ignore'] });
  guardian.on('error', () => undefined);
  guardian.stdin.on('error', () => undefined);
  // Watching must not keep alive what is watched.
  guardian.unref();
  (guardian.stdin as unknown as { unref(): void }).unref();
  return () => guardian.stdin.end('farewell\n');
}
