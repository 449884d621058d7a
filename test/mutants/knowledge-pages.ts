import type { Mutant } from './mutant.ts';

const test = 'test/browser/knowledge.test.ts';

export const knowledgePages: readonly Mutant[] = [
  {
    file: 'web/console/pages/knowledge/highlight.tsx',
    text: 'characters[one] ?? one',
    replacement: 'one',
    test,
    only: 'shows what the search finds',
    harm: 'People read &lt; and &amp; where the article has other characters.',
  },
  {
    file: 'web/console/pages/knowledge/send-import.ts',
    text: "['\\n'.repeat(linesBefore), bytes]",
    replacement: '[bytes.subarray(linesBefore - linesBefore)]',
    test,
    only: 'imports lines in parts',
    harm: 'Errors of a long file name lines that have nothing wrong.',
  },
  {
    file: 'web/console/pages/knowledge/import-parts.ts',
    text: 'if (lines > 0) end(file.length);',
    replacement: '',
    test,
    only: 'imports lines in parts',
    harm: 'The last lines of a file are never imported, and nothing tells it.',
  },
  {
    file: 'web/console/pages/knowledge/article.tsx',
    text: 'value && isAdministrator() && !isEdited',
    replacement: 'value && !isEdited',
    test,
    only: 'is for agents to read',
    harm: 'Agents see buttons that the service refuses.',
  },
  {
    file: 'web/console/pages/knowledge/article-form.tsx',
    text: "url.trim() === '' ? null : url.trim()",
    replacement: 'url',
    test,
    only: 'lets an article be written',
    harm: 'An address, once given, cannot be taken away.',
  },
  {
    file: 'web/console/pages/settings/model-server.tsx',
    text: "isForgotten ? { api_key: null } : key === '' ? {} : { api_key: key }",
    replacement: "isForgotten || key === '' ? { api_key: null } : { api_key: key }",
    test: 'test/browser/account-settings.test.ts',
    only: 'set its model server',
    harm: 'Whoever changes the model loses the stored key, and bots answer no more.',
  },
];
