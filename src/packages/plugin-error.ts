/** A package that cannot be used, with every reason in a sentence each. */
export class PluginError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'PluginError';
    this.problems = problems;
  }
}
