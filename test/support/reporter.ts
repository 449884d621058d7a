import Mocha from 'mocha';

const { EVENT_RUN_END } = Mocha.Runner.constants;

/** Mocha's spec output, with a last line for scripts: `N passed, N failed`. */
class ClosingLineReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once(EVENT_RUN_END, () => {
      console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`);
    });
  }
}

// Mocha takes a reporter module's default export.
// oxlint-disable-next-line import/no-default-export
export default ClosingLineReporter;
