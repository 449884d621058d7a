import { readFileSync } from 'node:fs';

/** An article of the help centre that the bench asks; the key names it in the questions. */
export interface KnownArticle {
  key: string;
  title: string;
  content: string;
  language: string;
}

/** A question, and the article that answers it; null where no article does. */
export interface Question {
  text: string;
  kind: 'plain' | 'paraphrase' | 'typo' | 'off';
  expected: string | null;
}

/** Where the articles are published: their URLs are this and their keys. */
export const site = 'https://help.example.com/';

const languages = ['en', 'de'];
const read = (name: string) => readFileSync(new URL(`../retrieval/${name}`, import.meta.url), 'utf8');

/** The articles of both languages. */
export function readArticles(): KnownArticle[] {
  return languages.flatMap((language) =>
    read(`articles.${language}.md`)
      .split(/^(?=# )/m)
      .map((article) => {
        const [, key = '', title = ''] = /^# (\S+) \| (.*)/.exec(article) ?? [];
        return { key, title, language, content: article.slice(article.indexOf('\n')).trim() };
      }),
  );
}

/** The questions in both languages. */
export function readQuestions(): Question[] {
  return languages.flatMap((language) =>
    read(`questions.${language}.txt`)
      .trim()
      .split('\n')
      .map((line) => {
        const [key = '', kind = '', ...text] = line.split(' | ');
        return { text: text.join(' | '), kind: kind as Question['kind'], expected: key === '-' ? null : key };
      }),
  );
}
