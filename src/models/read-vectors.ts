import { ModelError } from './chat.ts';

/** Numbers of a vector at most; the models there are have up to 4,096. */
const maxDimensions = 4096;

/**
 * Checks what a server answered in place of `count` vectors, which its client does not. Servers that number the vectors may
 * answer them in any order. Throws a ModelError.
 */
export function readVectors(given: unknown, count: number): number[][] {
  const { data } = fieldsOf(given);
  if (!Array.isArray(data)) throw bad('The answer is no JSON object with `data`, such as one of embeddings');
  if (data.length !== count) throw bad(`The answer has ${data.length} vectors in place of ${count}`);
  const vectors = new Map(data.map((one, place) => [placeOf(one, place), vectorOf(one)]));
  const ordered = Array.from({ length: count }, (_, place) => vectors.get(place));
  const [first] = ordered;
  return ordered.map((vector) => {
    if (!vector) throw bad('The answer has two vectors for the same text');
    if (vector.length !== first?.length) throw bad('The vectors of the answer have different lengths');
    return vector;
  });
}

function placeOf(one: unknown, place: number): unknown {
  return fieldsOf(one).index ?? place;
}

function vectorOf(one: unknown): number[] {
  const { embedding } = fieldsOf(one);
  if (!Array.isArray(embedding)) throw bad('The answer has a vector that is no list of numbers');
  if (embedding.length < 2 || embedding.length > maxDimensions)
    throw bad(`A vector may have 2 to ${maxDimensions} numbers, not ${embedding.length}`);
  if (!embedding.every((number) => Number.isFinite(number))) throw bad('A vector of the answer has what is no number');
  const vector = embedding as number[];
  const length = Math.hypot(...vector);
  if (length === 0 || !Number.isFinite(length)) throw bad('A vector of the answer has no direction');
  return vector;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function bad(message: string): ModelError {
  return new ModelError('bad_answer', message);
}
