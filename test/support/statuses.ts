/** The statuses of answers to requests made at once, lowest first. */
export function statuses(answers: readonly { status: number }[]): number[] {
  return answers.map(({ status }) => status).sort((one, other) => one - other);
}
