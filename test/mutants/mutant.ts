/** A plausible mistake, planted to see whether the tests notice it. With it the project compiles, unused names apart. */
export interface Mutant {
  /** Source file, from the project's root. */
  file: string;
  /** Text that stands there exactly once. */
  text: string;
  /** What is put in its place. */
  replacement: string;
  /** Test file that must fail then, from the project's root; with `only`, those of its tests whose title contains it. */
  test: string;
  only?: string;
  /** What users would suffer. */
  harm: string;
  /** Why no test can see it; one that is explained counts as a survivor all the same. */
  survives?: string;
}
