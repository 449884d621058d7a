/**
 * The same pure function, whose results are kept for calls with the same text. All of them are forgotten when there are more
 * than `most`.
 */
export function keepResults<Result>(most: number, find: (text: string) => Result): (text: string) => Result {
  const kept = new Map<string, Result>();
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const result = find(text);
    if (kept.size >= most) kept.clear();
    kept.set(text, result);
    return result;
  };
}
