// Ordered: browsers that others claim to be come last.
const browsers = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const;
const systems = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
] as const;
const longest = 60;

/** Common name of a user agent, such as “Firefox on Windows”; the start of the user agent where it is unknown. */
export function browserOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown browser';
  const find = (all: readonly (readonly [RegExp, string])[]) => all.find(([sign]) => sign.test(userAgent))?.[1];
  const browser = find(browsers);
  const system = find(systems);
  if (browser === undefined) return userAgent.slice(0, longest);
  return system === undefined ? browser : `${browser} on ${system}`;
}
