// The ends of domains that people take for links although nothing stands before or behind them.
const wellKnown = new RegExp(
  `\\.(?:${[
    'com|net|org|info|biz|io|co|app|dev|ai|me|xyz|online|site|shop|store|club|top|link|click|live|test|example|mobi|icu|cyou|buzz|vip',
    'cfd|sbs|zip|mov|edu|gov|eu|de|at|ch|fr|uk|us|ru|cn|nl|it|es|pl|tk|ml|ga|cf|gq|pw|cc|ws|tv|gg|ly|su|ua|kz|br|mx|ar|cl|jp|kr|tw|hk',
    'sg|th|vn|ph|nz|au|za|ng|ke|se|fi|dk|cz|sk|hu|ro|bg|gr|tr|pt|ie|lu|li|lt|lv|ee|il|ae|ir|pk|ca|nu',
  ].join('|')})$`,
);
// No expression here goes over a character again and again: models write what they like.
const markdownLink = /!?\[([^[\]]*)\]\(\s?<?([^()\s<>]*)>?(?:\s[^()]*)?\)/g;
// Browsers do with any number of slashes, either way round, behind the schemes that they know best.
const urlWithScheme =
  /(?<![\p{L}\p{N}])(?:(?:https?|ftp|wss?):[\\/]+|(?:[a-z][a-z0-9+.-]{0,30}:)?\/\/)[^\s<>"'`[\]{}|]+/giu;
const otherScheme = /(?<![\p{L}\p{N}])(?:mailto|javascript|data|vbscript):[^\s<>"'`[\]{}|]+/giu;
const bareHost =
  /(?<![\p{L}\p{N}@/._-])(?:[\p{L}\p{N}_-]{1,63}\.)+\p{L}{2,24}(?![\p{L}\p{N}_-])(?::\d{1,5})?(?:[/?#][^\s<>"'`[\]{}|]*)?/gu;
/** Characters that end a sentence after a link, and do not belong to it. */
const trailing = '.,;:!?)]*_';

/** Stands where a link was. */
const removed = '[link removed]';
/** Maximum of links within links; a text that hides them deeper is dropped. */
const maxRounds = 10;

/**
 * The text with `[link removed]` in place of every link, with and without a scheme, but exactly these; of links in Markdown their
 * words stay. Empty where links are left that taking out others has made.
 */
export function removeLinks(text: string, allowed: readonly string[]): string {
  let left = text;
  for (let round = 0; round < maxRounds; round += 1) {
    const cleaned = removeOnce(left, allowed);
    if (cleaned === left) return left;
    left = cleaned;
  }
  return '';
}

function removeOnce(text: string, allowed: readonly string[]): string {
  const keepAllowed = (target: string) => {
    const link = withoutEnd(target);
    const isAllowed = allowed.some((one) => one.startsWith(link) && target.startsWith(one));
    return isAllowed ? target : removed + target.slice(link.length);
  };
  return text
    .replace(markdownLink, (link: string, words: string, target: string) =>
      allowed.includes(target) ? link : `${words.trim()} ${removed}`.trimStart(),
    )
    .replace(otherScheme, keepAllowed)
    .replace(urlWithScheme, keepAllowed)
    .replace(bareHost, (link) => (isLink(link) ? keepAllowed(link) : link));
}

/** The host of a link as browsers read it: in lower case, without user, port and the dot of the root. */
function hostOf(link: string): string {
  const [authority = ''] = link
    .normalize('NFKC')
    .replaceAll('\\', '/')
    // A port is no end of a scheme.
    .replace(/^(?:[a-z][a-z0-9+.-]*:(?!\d))?\/*/i, '')
    .split(/[/?#]/);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
}

function withoutEnd(link: string): string {
  let length = link.length;
  while (length > 0 && trailing.includes(link.charAt(length - 1))) length -= 1;
  return link.slice(0, length);
}

function isLink(found: string): boolean {
  const host = hostOf(found);
  return found.length > host.length || host.startsWith('www.') || wellKnown.test(host);
}
