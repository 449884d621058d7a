// The program of the process that builds the site: writes the result to stdout. Arguments: the project's folder, and the hash
// of its sources.
import { loadBundler } from '../packages/read/bundle.ts';
import { buildSite } from './build.ts';
import { layout } from './layout.ts';
import { writeSite } from './site-file.ts';

const [root = '', hash = ''] = process.argv.slice(2);
await loadBundler(() => process.exit(1));
process.stdout.write(writeSite(hash, await buildSite(root, layout)), () => process.exit(0));
