/** Returns why a URL of a database cannot be used, as the end of a sentence after its name; null if it can. */
export function databaseUrlProblem(text: string): string | null {
  const authority = text.replace(/^\w+:\/\//, '').split(/[/?#]/)[0] ?? '';
  const url = URL.parse(text);
  const hosts = [authority.split('@').at(-1), url?.searchParams.get('host'), url?.searchParams.get('port')];
  if (hosts.some((host) => host?.includes(',')))
    return 'names several hosts: name one, an address that leads to the primary for example';
  if (url && [url.username, url.password, url.pathname].every(isReadable)) return null;
  return 'cannot be read as a URL: characters such as / ? # % in the user or password must be percent-encoded';
}

function isReadable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
