import type { Tool } from '../../domain/bots/tools/tool.ts';
import { fillTemplate, readTemplate } from '../../domain/bots/tools/url-template.ts';

/** The request of a tool's call, its secrets still in their names. */
export interface ToolRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

const maxUrlChars = 2048;

/**
 * The request for arguments that fit the tool's `parameters`: in the places of its URL, the others as query parameters with
 * GET, else as a JSON body. Sentences for the model where an argument cannot stand in the URL.
 */
export function requestOf(tool: Tool, given: Readonly<Record<string, unknown>>): ToolRequest | { problems: string[] } {
  const { url: text, method } = tool;
  const template = readTemplate(text);
  const names = 'problem' in template ? [] : template.names;
  const problems = names.flatMap((name) =>
    isPlain(given[name]) ? [] : [`\`${name}\` is missing, or no text or number`],
  );
  if (problems.length > 0) return { problems };
  const url = fillTemplate(text, new Map(names.map((name) => [name, String(given[name])])));
  if (!url) return { problems: [`${names.map((name) => `\`${name}\``).join(' or ')} cannot stand in a URL`] };
  const others = Object.entries(given).filter(([name]) => !names.includes(name));
  if (method === 'GET') for (const [name, value] of others) url.searchParams.append(name, textOf(value));
  if (url.href.length > maxUrlChars) return { problems: ['The arguments are too long for a URL'] };
  const isSent = method !== 'GET';
  const headers = { accept: 'application/json', ...(isSent ? { 'content-type': 'application/json' } : {}) };
  return {
    url: url.href,
    method,
    headers: { ...headers, ...inLowerCase(tool.headers) },
    ...(isSent ? { body: JSON.stringify(Object.fromEntries(others)) } : {}),
  };
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value);
}

function inLowerCase(headers: Tool['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]));
}
