import { expect } from 'chai';
import { TestApp } from './support/app.ts';
import { Fuzzer } from './support/fuzz/fuzz.ts';

// As many as every operation needs for its turn. The suite always sends the same; `npm run fuzz` sends 20,000 others.
const requests = 4_000;
const defaultSeed = 20_261_120;

describe('requests made from the schemas', () => {
  it(`${requests} of them: no server error, every answer in its shape, nothing written by a refused one`, async function () {
    this.timeout(300_000);
    const seed = Number(process.env.FUZZ_SEED ?? defaultSeed);
    const app = await TestApp.start({ engine: false });
    try {
      const report = await new Fuzzer(app, seed).run(requests);
      console.log(
        `      seed ${seed}: ${JSON.stringify(report.statuses)}, ${report.comparedBatches} refused batches compared`,
      );
      expect(report.violations.join('\n'), `seed ${seed}`).to.equal('');
      expect(report.requests).to.be.at.least(requests);
      expect(report.missed).to.equal(0);
      expect(report.comparedBatches).to.be.greaterThan(20);
      expect(report.silentConversations).to.be.greaterThan(50);
      expect(report.statuses).to.include.keys('200', '201', '400', '404', '422');
    } finally {
      await app.stop();
    }
  });
});
