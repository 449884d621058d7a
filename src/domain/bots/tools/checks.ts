import { ApiError, invalid, type ErrorDetail } from '../../../errors.ts';
import type { OuterTransaction } from '../../../events/transaction.ts';
import { isHeaderText, isSettableHeader } from '../../../outbound/request-headers.ts';
import type { Manifest } from '../../../packages/manifest/manifest.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { findProblems, type Shape } from '../../../schemas.ts';
import { argumentNames, findSchemaProblem } from './parameters.ts';
import { fillSecrets, readTools, type Tool } from './tool.ts';
import { readTemplate } from './url-template.ts';

/** Names of the tools that every AI bot has. */
const takenNames = ['answer', 'talk', 'handoff', 'search'];
/** Characters of all tools as JSON: they are a part of each question to the model. */
const maxChars = 16_384;

type Config = Record<string, unknown>;

/**
 * Settings with their tools as they are stored. Tools that the body does not name stay as they are, and are checked when they are
 * called. Errors: 422 for tools that cannot be called, for those of a system bot, and for hosts that the account has not approved
 * (`host_not_approved`).
 */
export async function checkTools(
  { sql, accountId }: Pick<OuterTransaction, 'sql' | 'accountId'>,
  { permissions }: Pick<Manifest, 'permissions'>,
  { body, config }: { body: { tools?: unknown; config?: Config }; config: Config },
): Promise<Config> {
  const given = body.tools ?? body.config?.['tools'];
  if (!permissions.tools || given === undefined) return config;
  const path = body.tools ? '/tools' : '/config/tools';
  const details = findProblems('runtime/tools', given, 'The tools').map((problem) => under(path, problem));
  if (details.length > 0) throw refusal(details);
  const tools = readTools(given as Shape<'runtime/tools'>);
  const problems = findToolProblems(tools).map((problem) => under(path, problem));
  if (problems.length > 0) throw refusal(problems);
  if (tools.length > 0) {
    if (accountId === null)
      throw invalid(path, 'kind', 'System bots have no tools: accounts approve the hosts of theirs');
    checkHosts(tools, await findApprovedHosts(sql, accountId), path);
  }
  return { ...config, tools };
}

/** Problems of tools that match their schema; paths begin at the list. */
export function findToolProblems(tools: readonly Tool[]): ErrorDetail[] {
  const names = tools.map(({ name }) => name);
  const size = JSON.stringify(tools).length;
  const tooLong = `The tools must be at most ${maxChars} characters of JSON in all, and have ${size}`;
  return [
    ...(size > maxChars ? [{ path: '', rule: 'maxLength', message: tooLong }] : []),
    ...tools.flatMap((tool, index) => problemsOf(tool, names.indexOf(tool.name) < index, `/${index}`)),
  ];
}

function problemsOf(tool: Tool, isTwice: boolean, path: string): ErrorDetail[] {
  const { name, parameters, url } = tool;
  const of = (field: string, rule: string, message: string): ErrorDetail => ({
    path: `${path}/${field}`,
    rule,
    message: `\`${field}\` of the tool \`${name}\` ${message}`,
  });
  const schema = findSchemaProblem(parameters);
  const template = readTemplate(url);
  const declared = argumentNames(parameters);
  const unknown = 'problem' in template ? undefined : template.names.find((one) => !declared.includes(one));
  return [
    ...(isTwice ? [of('name', 'unique', 'is the name of another tool, too')] : []),
    ...(takenNames.includes(name) ? [of('name', 'reserved', 'is a tool that every AI bot has: choose another')] : []),
    ...(schema === null ? [] : [of('parameters', 'schema', schema)]),
    ...('problem' in template ? [of('url', 'format', template.problem)] : []),
    ...(unknown === undefined
      ? []
      : [of('url', 'unknown', `has {${unknown}}, which is none of its \`parameters.properties\``)]),
    ...headerProblems(tool).map((message) => of('headers', 'header', message)),
  ];
}

function headerProblems({ headers }: Tool): string[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return Object.entries(headers).flatMap(([name, text]) => {
    const shown = `\`${name.slice(0, 100)}\``;
    if (!isSettableHeader(name)) return [`has ${shown}, which cannot be set`];
    if (names.indexOf(name.toLowerCase()) < names.lastIndexOf(name.toLowerCase())) return [`has ${shown} twice`];
    if (!isHeaderText(text)) return [`has a character in ${shown} that headers cannot have`];
    const isOpen = /\{\{|\}\}/.test(fillSecrets(text, () => ''));
    return isOpen ? [`has braces in ${shown} that are no secret such as {{SHOP_KEY}}`] : [];
  });
}

function checkHosts(tools: readonly Tool[], approved: readonly string[], path: string): void {
  const details = tools.flatMap(({ url }, index) => {
    const template = readTemplate(url);
    if ('problem' in template || approved.includes(template.host)) return [];
    const message = `${template.host} is none of the account's approved hosts: add it to \`approved_hosts\` of the account`;
    return [{ path: `${path}/${index}/url`, rule: 'approved', message }];
  });
  const [first] = details;
  if (first) throw new ApiError(422, 'host_not_approved', first.message, { details });
}

/** Returns the hosts that tools of the account's bots may call; none of an account that is gone. */
export async function findApprovedHosts(sql: Sql, accountId: number): Promise<string[]> {
  const [row] = await sql<{ hosts: string[] }>('SELECT approved_hosts AS hosts FROM accounts WHERE id = $1', [
    accountId,
  ]);
  return row?.hosts ?? [];
}

function under(place: string, { path, ...problem }: ErrorDetail): ErrorDetail {
  return { ...problem, path: place + path };
}

function refusal(details: ErrorDetail[]): ApiError {
  return new ApiError(422, 'validation_failed', details[0]?.message ?? 'The tools are not valid', { details });
}
