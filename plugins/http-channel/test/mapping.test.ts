import assert from 'node:assert';
import { test } from 'node:test';
import { fill, holds, momentOf, textAt, valueAt } from '../mapping.ts';

const request = { from: { id: 7, 'a/b': 'x' }, list: ['one', 'two'], text: 'Hi', none: null };

test('finds values by pointer, and nothing that is inherited', () => {
  assert.equal(valueAt(request, '/from/id'), 7);
  assert.equal(valueAt(request, '/from/a~1b'), 'x');
  assert.equal(valueAt(request, '/list/1'), 'two');
  assert.equal(valueAt(request, '/constructor/name'), undefined);
  assert.equal(valueAt(undefined, '/from'), undefined);
});

test('makes texts of places', () => {
  assert.equal(textAt(request, '/from/id'), '7');
  assert.equal(textAt(request, '{/from/id}:{/text}'), '7:Hi');
  assert.equal(textAt(request, '{/from/id}:{/missing}'), undefined);
  assert.equal(textAt(request, '/from'), undefined);
  assert.throws(() => textAt({ id: 2 ** 60 }, '/id'), /more digits/);
});

test('checks conditions', () => {
  assert.ok(holds(request));
  assert.ok(holds(request, { '/text': 'Hi', '/from/id': [6, 7], '/bot': null, '/none': null }));
  assert.ok(!holds(request, { '/text': 'Ho' }));
});

test('fills templates, and leaves other braces alone', () => {
  const values = { content: 'say "{id}"', id: 5 };
  assert.deepEqual(fill({ a: ['{id}', 'no {id}', '{what}'], b: { c: '{content}' }, d: 1 }, values), {
    a: [5, 'no 5', '{what}'],
    b: { c: 'say "{id}"' },
    d: 1,
  });
});

test('reads moments', () => {
  assert.equal(momentOf('1700000000.25'), 1_700_000_000);
  assert.equal(momentOf('1700000000000'), 1_700_000_000);
  assert.equal(momentOf('2023-11-14T22:13:20Z'), 1_700_000_000);
  assert.equal(momentOf('soon'), undefined);
  assert.equal(momentOf(undefined), undefined);
});
