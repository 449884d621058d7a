import assert from 'node:assert';
import { test } from 'node:test';
import { meets, type Condition } from '../conditions.ts';

const facts = { status: 'open', labels: ['vip', 'late'], content: 'I want a REFUND', priority: null, score: 5 };

test('compares in any case, and lists by each of their values', () => {
  const holds = (attribute: string, operator: Condition['operator'], values: (string | number)[] = []) =>
    meets({ all: [{ attribute, operator, values }] }, facts);
  assert.ok(holds('content', 'contains', ['refund']));
  assert.ok(holds('labels', 'equal_to', ['VIP']));
  assert.ok(holds('labels', 'not_equal_to', ['new']));
  assert.ok(holds('score', 'equal_to', [5]));
  assert.ok(holds('priority', 'is_not_present'));
  assert.ok(holds('absent', 'not_equal_to', ['x']));
  assert.ok(!holds('content', 'does_not_contain', ['Refund']));
});

test('wants all, or any, or nothing', () => {
  const yes = { attribute: 'status', operator: 'equal_to', values: ['open'] } as const;
  const no = { attribute: 'status', operator: 'equal_to', values: ['resolved'] } as const;
  assert.ok(meets({ any: [no, yes] }, facts));
  assert.ok(!meets({ all: [no, yes] }, facts));
  assert.ok(!meets({ any: [no] }, facts));
  assert.ok(meets({}, facts));
});
