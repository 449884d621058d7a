import { expect } from 'chai';

/** The form of a value: a test, a list of a form, or an object's properties; other properties are allowed. */
export type Form = ((value: unknown, path: string) => void) | readonly [Form] | { readonly [name: string]: Form };

const ofType = (type: string) => (value: unknown, path: string) => expect(value, path).to.be.a(type);

export const number = ofType('number');
export const text = ofType('string');
export const flag = ofType('boolean');
export const anyObject = ofType('object');
export const list = ofType('array');

export function color(value: unknown, path: string): void {
  expect(value, path).to.match(/^#[0-9a-f]{3,6}$/i);
}

const year2000 = 946_684_800;
const year2100 = 4_102_444_800;

/** Unix seconds of our time: not milliseconds, not text. */
export function time(value: unknown, path: string): void {
  expect(value, path).to.be.a('number').that.is.within(year2000, year2100);
  expect(Number.isInteger(value), `${path} is whole seconds`).to.equal(true);
}

export function isoTime(value: unknown, path: string): void {
  expect(value, path).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
}

export function oneOf(...values: unknown[]): Form {
  return (value, path) => expect(value, path).to.be.oneOf(values);
}

export function nullable(form: Form): Form {
  return (value, path) => {
    if (value !== null) expectForm(value, form, path);
  };
}

/** An object with these properties and no others. */
export function exactly(form: { readonly [name: string]: Form }): Form {
  return (value, path) => {
    expect(value, path).to.have.all.keys(Object.keys(form));
    expectForm(value, form, path);
  };
}

export function empty(value: unknown, path: string): void {
  expect(value, path).to.deep.equal({});
}

/** Fails unless the value has the form; lists must not be empty, or their elements would go unchecked. */
export function expectForm(value: unknown, form: Form, path = ''): void {
  if (typeof form === 'function') return form(value, path || 'the answer');
  if (Array.isArray(form)) {
    expect(value, path).to.be.an('array').that.is.not.empty;
    for (const [index, element] of (value as unknown[]).entries())
      expectForm(element, (form as [Form])[0], `${path}/${index}`);
    return;
  }
  expect(value, path).to.be.an('object').that.is.not.an('array');
  for (const [name, part] of Object.entries(form)) {
    expect(value, path).to.have.property(name);
    expectForm((value as Record<string, unknown>)[name], part, `${path}/${name}`);
  }
}
