// Runs inside the isolate before the bot is loaded (see bootstrap.ts).

const { floor } = Math;
const digits = '0123456789abcdef';
/** Numbers that are drawn before the first UUID, so that each of its bits depends on all of the beginning. */
const warmUp = 15;

/**
 * Returns a maker of UUIDs (version 4) that are the same when the run is repeated, and others in every other run: they follow
 * from its seed, its time and the id of its event by the generator sfc32. They are unique, and no secret.
 */
export function uuidsFrom(seed: number, now: number, eventId: number): () => string {
  const next = numbersFrom(seed | 0, now | 0, floor(now / 2 ** 32) ^ eventId);
  for (let count = 0; count < warmUp; count += 1) next();
  return () => {
    let text = '';
    let word = 0;
    for (let place = 0; place < 32; place += 1) {
      if (place % 8 === 0) word = next();
      if (place === 8 || place === 12 || place === 16 || place === 20) text += '-';
      const digit = word & 15;
      // The version and the variant.
      if (place === 12) text += '4';
      else text += digits[place === 16 ? (digit & 3) | 8 : digit];
      word >>>= 4;
    }
    return text;
  };
}

function numbersFrom(one: number, other: number, third: number): () => number {
  let [a, b, c, counter] = [one, other, third, 1];
  return () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
}
