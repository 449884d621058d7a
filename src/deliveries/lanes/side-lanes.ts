/**
 * SQL condition: live lanes and those beside them. Written out for the index of due lanes, in which each pump finds its own
 * together.
 */
export const anySide = `is_side = ANY ('{f, t}')`;
