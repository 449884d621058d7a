import assert from 'node:assert';
import { test } from 'node:test';
import { isIdle, secondsOfNotice, secondsToNotice } from '../idle.ts';

const settings = { days: 7, notice_days: 2, waiting: false };

test('says a word before, and resolves after all days', () => {
  assert.equal(secondsToNotice(settings), 5 * 86_400);
  assert.equal(secondsToNotice(settings) + secondsOfNotice(settings), 7 * 86_400);
  assert.equal(secondsToNotice({ ...settings, notice_days: 7 }), 60);
});

test('leaves alone what is resolved, set aside or waits for an answer', () => {
  const quiet = { status: 'open', waiting_since: null };
  assert.ok(isIdle(quiet, settings));
  assert.ok(isIdle({ ...quiet, status: 'pending' }, settings));
  assert.ok(!isIdle({ ...quiet, status: 'snoozed' }, settings));
  assert.ok(!isIdle({ ...quiet, status: 'resolved' }, settings));
  assert.ok(!isIdle({ ...quiet, waiting_since: 1 }, settings));
  assert.ok(isIdle({ ...quiet, waiting_since: 1 }, { ...settings, waiting: true }));
  assert.ok(!isIdle(null, settings));
});
