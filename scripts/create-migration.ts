// `npm run migrate:create NAME`: a new migration, dated today, at the end of the list.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../src/postgres/migrations/', import.meta.url));
const index = `${folder}index.ts`;
const lastImport = /(?:import \{ \w+ \} from '\.\/\d{8}-[\w.-]+\.ts';\n)+/;
const listed = / {2}\{ name: '\d{8}-[\w.-]+', class: \w+ \},\n\];/;

function classNameOf(subject: string): string {
  return subject.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function templateOf(className: string): string {
  return `import { Migration } from '@mikro-orm/migrations';

/** What it adds or changes, and why. */
export class ${className} extends Migration {
  override up(): void {
    this.addSql(\`
      -- Tenant tables carry account_id, UNIQUE (account_id, id) and composite foreign keys.
    \`);
  }
}
`;
}

function fail(reason: string): never {
  console.error(reason);
  process.exit(1);
}

const [subject = ''] = process.argv.slice(2);
if (!/^[a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*$/.test(subject))
  fail('Usage: npm run migrate:create NAME, with the subject in lower-case words, as in canned-responses');
const name = `${new Date().toISOString().slice(0, 10).replaceAll('-', '')}-${subject}`;
const file = `${folder}${name}.ts`;
const className = classNameOf(subject);
const text = readFileSync(index, 'utf8');
if (existsSync(file) || text.includes(`{ ${className} }`)) fail(`There is a migration ${className} already`);
const extended = text
  .replace(lastImport, (lines) => `${lines}import { ${className} } from './${name}.ts';\n`)
  .replace(listed, (end) => end.replace(/\];$/, `  { name: '${name}', class: ${className} },\n];`));
writeFileSync(file, templateOf(className));
writeFileSync(index, extended);
console.log(`Created src/postgres/migrations/${name}.ts, the last in index.ts`);
