/** Waits until all have ended, so that none of them is under way afterwards; throws the first failure in their order. */
export async function settleAll(works: readonly Promise<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(works);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
