/** Thrown for a package that cannot be used; `problems` are sentences, one for each reason. */
export class PluginError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'PluginError';
    this.problems = problems;
  }
}
