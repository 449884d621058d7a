import type { Page } from 'playwright-core';

const mostPresses = 400;

/** Goes through the page by the tabulator; returns what should be reached in `main`, and was not, or has no name. */
export async function walkByKeyboard(page: Page): Promise<string[]> {
  const count = await page.evaluate(markControls);
  await page.getByRole('heading', { level: 1 }).focus();
  for (let pressed = 0; pressed < mostPresses; pressed += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate(markReached)) === count) break;
  }
  return page.evaluate(listMissed);
}

// Those below run in the page. As text, where the types of the page are not known here.

const markControls = `(() => {
  const wanted = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, [tabindex="0"]';
  const all = [...document.querySelectorAll('main ' + wanted.split(', ').join(', main '))];
  // The tabulator reaches the chosen one of radio buttons, and arrow keys the others.
  const stops = all.filter((one) => one.type !== 'radio' || one.checked);
  const shown = stops.filter((one) => one.checkVisibility({ visibilityProperty: true }));
  for (const one of shown) one.dataset.walk = 'missed';
  return shown.length;
})()`;

const markReached = `(() => {
  const { activeElement: reached } = document;
  if (reached?.dataset?.walk) {
    const { outlineStyle, boxShadow } = getComputedStyle(reached);
    reached.dataset.walk = outlineStyle === 'none' && boxShadow === 'none' ? 'unseen' : 'reached';
  }
  return document.querySelectorAll('[data-walk=reached]').length;
})()`;

const listMissed = `[...document.querySelectorAll('[data-walk=missed], [data-walk=unseen]')]
  .map((one) => one.dataset.walk + ': ' + one.outerHTML.slice(0, 120))`;
