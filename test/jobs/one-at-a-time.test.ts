import { expect } from 'chai';
import { oneAtATime } from '../../src/jobs/one-at-a-time.ts';

describe('work done one at a time', () => {
  function slow(): { run: () => Promise<number>; end: (error?: Error) => void; begun: () => number } {
    let begun = 0;
    let under: PromiseWithResolvers<number> | null = null;
    const run = oneAtATime(() => {
      expect(under, 'another run is under way').to.equal(null);
      begun += 1;
      under = Promise.withResolvers<number>();
      return under.promise;
    });
    const end = (error?: Error): void => {
      const ending = under;
      under = null;
      if (error) ending?.reject(error);
      else ending?.resolve(begun);
    };
    return { run, end, begun: () => begun };
  }

  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('is done again, once, for all who asked meanwhile', async () => {
    const { run, end, begun } = slow();
    const first = run();
    const others = [run(), run(), run()];
    await settled();
    expect(begun()).to.equal(1);
    end();
    expect(await first).to.equal(1);
    await settled();
    expect(begun()).to.equal(2);
    end();
    expect(await Promise.all(others)).to.deep.equal([2, 2, 2]);
    await settled();
    expect(begun()).to.equal(2);
  });

  it('is done again for who asks during a run that others asked for', async () => {
    const { run, end, begun } = slow();
    const all = [run(), run()];
    end();
    await settled();
    all.push(run());
    end();
    await settled();
    end();
    expect(await Promise.all(all)).to.deep.equal([1, 2, 3]);
    expect(begun()).to.equal(3);
  });

  it('goes on after a failure, which only those hear who asked for that run', async () => {
    const { run, end } = slow();
    const first = run().catch((error: Error) => error.message);
    const second = run();
    end(new Error('broken'));
    expect(await first).to.equal('broken');
    await settled();
    end();
    expect(await second).to.equal(2);
    const third = run();
    end();
    expect(await third).to.equal(3);
  });
});
