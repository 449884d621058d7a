import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Which of the processes holds the loopback connection that starts at this port; null where the system does not say. */
export function holderOf(port: number, pids: readonly number[]): number | null {
  const inode = inodeOf(port);
  return pids.find((pid) => inode !== null && holdsSocket(pid, inode)) ?? null;
}

function inodeOf(port: number): string | null {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const line = read('/proc/net/tcp')
    .split('\n')
    .map((text) => text.trim().split(/\s+/))
    .find((columns) => columns[1]?.endsWith(local) && columns[9] !== '0');
  return line?.[9] ?? null;
}

function holdsSocket(pid: number, inode: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((name) => linkOf(`${folder}/${name}`) === `socket:[${inode}]`);
  } catch {
    return false;
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
