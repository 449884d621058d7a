import { expect } from 'chai';
import { execFileSync } from 'node:child_process';

/** What a log writes of one line whose texts hold a terminal's control sequences. */
function written(isTerminal: boolean): string {
  const url = new URL('../../src/lib/log.ts', import.meta.url).href;
  const script = `import { createLog } from ${JSON.stringify(url)};
    createLog('info', ${isTerminal}).info({ said: 'a\\u001b[31mred\\u001b[0m\\u001b]0;title', error: 'EPIPE' }, 'he\\u001b[2Jllo');`;
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script];
  return execFileSync(process.execPath, flags, { encoding: 'utf8', env: { NO_COLOR: '1' } });
}

describe('the log', () => {
  it('is one JSON object a line, free of control sequences', () => {
    const output = written(false);
    expect(output).not.to.include('\\u001b').and.not.include('\u001b');
    expect(JSON.parse(output)).to.include({ level: 30, msg: 'hello', said: 'ared]0;title', error: 'EPIPE' });
  });

  it('is for people on a terminal, all of an entry in one line, which strangers cannot command', () => {
    const output = written(true);
    expect(output).to.match(/^\[\d\d:\d\d:\d\d\] INFO: hello \{.*"said":"ared\]0;title","error":"EPIPE"\}\n$/);
    expect(output).not.to.include('\u001b');
  });
});
