import { TypeOverrides, types } from 'pg';

const { INT8, DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL } = types.builtins;
const textArray = 1009;
const [dateArray, timestampArray, timestamptzArray, intervalArray] = [1182, 1115, 1185, 1187];

// Identifiers and counts stay below 2^53, so that a number represents them exactly.
types.setTypeParser(INT8, Number);

/** The values that rows have: times are text, see `moment`. */
export function rowTypes(): TypeOverrides {
  const overrides = new TypeOverrides();
  for (const type of [DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL]) overrides.setTypeParser(type, (text) => text);
  const parseTexts = types.getTypeParser(textArray as never, 'text') as (text: string) => unknown;
  for (const type of [dateArray, timestampArray, timestamptzArray, intervalArray]) {
    overrides.setTypeParser(type, parseTexts);
  }
  return overrides;
}
