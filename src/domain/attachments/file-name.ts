const longest = 255;
const longestExtension = 32;
// Control characters, those that turn the direction of text, and what file systems take for something else.
const unwanted = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}<>:"|?*%]/gu;
const edges = /^[\s.]+|[\s.]+$/gu;

/** The name under which a file is kept: the last step of a path, without what could mislead; `file` where nothing is left. */
export function safeName(given: string): string {
  const last = given.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const name = last.normalize('NFC').replaceAll(unwanted, '').replaceAll(edges, '');
  if (name.length <= longest) return name === '' ? 'file' : name;
  const [extension = ''] = /\.[^.]+$/.exec(name) ?? [];
  const kept = extension.length <= longestExtension ? extension : '';
  return (name.slice(0, longest - kept.length) + kept).toWellFormed();
}
