import type { Shape } from '../../schemas.ts';
import type { Permissions } from '../../sandbox/run.ts';

type HooksFile = NonNullable<Shape<'runtime/plugin'>['hooks']>;
type HookFile = HooksFile[string];

/** How the service makes sure who sends a request. */
export type HookScheme = HookFile['verify'];

/** A kind of requests that bots of a plugin take, with its defaults filled in. */
export interface HookHandler {
  verify: HookScheme;
  /** Name of the bot's secret; null for `none`. */
  secret: string | null;
  /** Name of the secret that Meta sends when the URL is set up. */
  verifyToken: string | null;
  /** Places of the request's id, the first that has a value; none: every request is stored. */
  id: readonly string[];
  /** Places of what the request is about. */
  key: readonly string[];
  maxBytes: number;
  /** Where a body has files; null where it has none. */
  files: string | null;
  answer: 200 | 202;
}

/** Bytes of a body at most, where a manifest does not say more. */
export const usualMaxBytes = 1024 * 1024;

// Senders of a scheme put the id there. Meta has none: several requests are about the same message.
const usualPlaces: Readonly<Record<HookScheme, readonly string[]>> = {
  'standard-webhooks': ['header:webhook-id', 'header:svix-id'],
  github: ['header:x-github-delivery'],
  stripe: ['/id'],
  slack: ['/event_id'],
  shopify: ['header:x-shopify-webhook-id'],
  twilio: ['form:MessageSid', 'header:i-twilio-idempotency-token'],
  telegram: ['/update_id'],
  meta: ['body'],
  sns: ['/MessageId'],
  basic: [],
  none: [],
};

/** Returns the hooks of a valid plugin.json by name, with the defaults filled in. */
export function readHooks(hooks: HooksFile = {}): Readonly<Record<string, HookHandler>> {
  return Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, readHookHandler(hook)]));
}

/** Returns a hook of a valid plugin.json with the defaults filled in. */
export function readHookHandler({
  verify,
  secret,
  verify_token: verifyToken,
  id,
  key,
  max_bytes: maxBytes,
  files,
  answer,
}: HookFile): HookHandler {
  return {
    verify,
    secret: secret ?? null,
    verifyToken: verifyToken ?? null,
    id: id === undefined ? usualPlaces[verify] : [id].flat(),
    key: [key ?? []].flat(),
    maxBytes: maxBytes ?? usualMaxBytes,
    files: files ?? null,
    answer: answer ?? (verify === 'meta' || verify === 'twilio' ? 200 : 202),
  };
}

/** Returns the names of the secrets that the hooks are checked with. */
export function hookSecrets(hooks: Readonly<Record<string, HookHandler>>): string[] {
  return Object.values(hooks).flatMap(({ secret, verifyToken }) => [secret ?? [], verifyToken ?? []].flat());
}

/** Returns a sentence for each contradiction that the schema cannot see. */
export function findHookProblems(
  hooks: Readonly<Record<string, HookHandler>>,
  { events, permissions }: { events: readonly string[]; permissions: Pick<Permissions, 'hooks' | 'secrets'> },
): string[] {
  const entries = Object.entries(hooks);
  const isEmpty = entries.length === 0;
  return [
    ...(events.length === 0 && isEmpty ? ['`events` is empty, and there are no `hooks`: nothing calls the bot'] : []),
    ...(isEmpty || permissions.hooks ? [] : ['`hooks` needs `"hooks": true` in `permissions`']),
    ...entries.flatMap(([name, hook]) => problemsOf(`hooks.${name}`, hook)),
    ...hookSecrets(hooks)
      .filter((secret) => permissions.secrets.some((listed) => listed.name === secret))
      .map(
        (secret) =>
          `the secret \`${secret}\` of a hook is listed in \`permissions.secrets\` too: declare it in one place`,
      ),
  ];
}

function problemsOf(place: string, { verify, secret, verifyToken }: HookHandler): string[] {
  const isOpen = verify === 'none';
  return [
    ...(isOpen && secret !== null ? [`\`${place}\` has a \`secret\`, but \`verify\` is \`none\``] : []),
    ...(!isOpen && secret === null ? [`\`${place}\` needs a \`secret\` for \`verify: "${verify}"\``] : []),
    ...(verifyToken !== null && verify !== 'meta' ? [`\`${place}\`: \`verify_token\` is for \`meta\` only`] : []),
  ];
}

/** Returns the sentence about a hook for the people who approve a plugin. */
export function describeHook(name: string, { verify }: Pick<HookHandler, 'verify'>): string {
  return verify === 'none'
    ? `Take requests of other systems without checking who sends them: whoever knows the URL can send any (hooks.${name})`
    : `Take requests of other systems, checked by ${verify} (hooks.${name})`;
}
