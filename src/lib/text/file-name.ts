const longest = 255;
const longestExtension = 32;
// Control characters, those that turn the direction of text, and what file systems take for something else.
const unwanted = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}<>:"|?*%]/gu;
// Greedy: a search for spaces and dots at the end would begin anew at each of them.
const withoutEdges = /[^\s.](?:.*[^\s.])?/su;

/** The name under which a file is kept: the last step of a path, without what could mislead; `file` where nothing is left. */
export function safeName(given: string): string {
  const last = given.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const [name = ''] = withoutEdges.exec(last.normalize('NFC').replaceAll(unwanted, '')) ?? [];
  if (name.length <= longest) return name === '' ? 'file' : name;
  const [extension = ''] = /\.[^.]+$/.exec(name) ?? [];
  const kept = extension.length <= longestExtension ? extension : '';
  return (name.slice(0, longest - kept.length) + kept).toWellFormed();
}
