/** The statuses of simultaneous requests, in ascending order. */
export function statuses(answers: readonly { status: number }[]): number[] {
  return answers.map(({ status }) => status).sort((one, other) => one - other);
}
