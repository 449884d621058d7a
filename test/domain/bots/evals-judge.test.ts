import { expect } from 'chai';
import { judge } from '../../../src/domain/bots/evals/judge.ts';

const called = { name: 'order_status', arguments: { order: 'A-17' }, error: null };

function trial(content: string, attributes: Record<string, unknown>, tools: (typeof called | { error: string })[]) {
  const replies = content === '' ? [] : [{ content, content_type: 'text' as const, content_attributes: attributes }];
  const told = tools.map((one) => ({ ...called, ...one }));
  const handedOff = content === '';
  const reason = handedOff ? 'no_answer' : null;
  return {
    outcome: 'ok',
    error: null,
    replies,
    handed_off: handedOff,
    handoff_reason: reason,
    tools: told,
    usage: null,
  };
}

describe('evals of bots with tools', () => {
  it('take an answer from a result for one, and name the tools', () => {
    const answered = trial('On its way.', { tool: true }, [called, { error: 'status_404' }]);
    expect(judge(answered, { answered: true }, true)).to.deep.equal({
      passed: true,
      got: 'answered from no article (tools: order_status, order_status status_404): "On its way."',
    });
    expect(judge(answered, { small_talk: true }, true).passed).to.equal(false);
    expect(judge(trial('On its way.', {}, [called]), { answered: true }, true).passed).to.equal(false);
  });

  it('name the tools behind a handoff, too', () => {
    const left = trial('', {}, [{ error: 'not_called' }]);
    expect(judge(left, { handoff: true }, true)).to.deep.equal({
      passed: true,
      got: 'handed off: no_answer (tools: order_status not_called)',
    });
  });
});
